// The limits of an architecture, and the number of resident blocks per multiprocessor.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tunesmith::cuda {

/// Common to all architectures from sm_75 to sm_120.
constexpr unsigned kMaxThreadsOfBlock = 1024;
constexpr unsigned kMaxRegistersOfThread = 255;
constexpr unsigned kMaxGrid[3] = {2147483647u, 65535u, 65535u};
constexpr unsigned kMaxBlock[3] = {1024u, 1024u, 64u};

/// One entry of data/architectures.yaml, which explains the fields.
struct Architecture {
  std::string name;  // "sm_80"
  unsigned registers = 0, warps = 0, blocks = 0;
  size_t shared_bytes = 0, block_shared_bytes = 0, static_shared_bytes = 0;
  size_t reserved_shared_bytes = 0, shared_unit_bytes = 0;
  unsigned multiprocessors = 0, fma_per_cycle = 0, clock_mhz = 0;
  unsigned memory_gb_per_second = 0, l2_gb_per_second = 0;
  size_t warpgroup_threads = 0;           // 0: it has no instructions of warpgroups
  std::vector<int64_t> async_copy_bytes;  // empty: it copies nothing asynchronously

  /// The number of resident blocks with this many threads, registers per thread, and static
  /// and dynamic shared memory; 0 if none fits. The same as NVIDIA's occupancy calculator.
  unsigned resident_blocks(unsigned registers_of_thread, size_t threads, size_t shared_bytes_of_block) const;
};

/// Reads the file. Throws UserError with the location of an error.
std::vector<Architecture> read_architectures(const std::filesystem::path& file);

/// The architecture of this name in the support folder's file. Throws UserError, with the nearest known name.
Architecture find_architecture(const std::string& name);

}  // namespace tunesmith::cuda
