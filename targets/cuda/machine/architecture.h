// What an architecture allows, and how many blocks a multiprocessor holds.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace tunesmith::cuda {

/// What every architecture from sm_75 to sm_120 has in common.
constexpr unsigned kMaxThreadsOfBlock = 1024;
constexpr unsigned kMaxRegistersOfThread = 255;
constexpr unsigned kMaxGrid[3] = {2147483647u, 65535u, 65535u};
constexpr unsigned kMaxBlock[3] = {1024u, 1024u, 64u};

/// One entry of data/architectures.yaml, where the fields are explained.
struct Architecture {
  std::string name;  // "sm_80"
  unsigned registers = 0, warps = 0, blocks = 0;
  size_t shared_bytes = 0, block_shared_bytes = 0, static_shared_bytes = 0;
  size_t reserved_shared_bytes = 0, shared_unit_bytes = 0;
  unsigned multiprocessors = 0, fma_per_cycle = 0, clock_mhz = 0;
  unsigned memory_gb_per_second = 0, l2_gb_per_second = 0;
  size_t warpgroup_threads = 0;           // 0: it has no instructions of warpgroups
  std::vector<int64_t> async_copy_bytes;  // empty: it copies nothing asynchronously

  /// How many blocks of so many threads fit, with their registers a thread and their static and dynamic
  /// shared memory; 0 when one does not. The same as NVIDIA's occupancy calculator.
  unsigned resident_blocks(unsigned registers_of_thread, size_t threads, size_t shared_bytes_of_block) const;
};

/// Reads the file. Throws UserError with the place of what is wrong.
std::vector<Architecture> read_architectures(const std::filesystem::path& file);

/// The architecture of this name in the support folder's file. Throws UserError, with the nearest known name.
Architecture find_architecture(const std::string& name);

}  // namespace tunesmith::cuda
