// Parses ptxas's output for compiled kernels.
#pragma once

#include <string>
#include <vector>

namespace tunesmith::cuda {

/// The resources of one kernel.
struct KernelResources {
  std::string name;
  unsigned registers = 0;  // per thread
  size_t stack_bytes = 0;  // per thread: arrays that are not in registers, and spills
  size_t spill_store_bytes = 0, spill_load_bytes = 0;
  size_t static_shared_bytes = 0;  // per block
};

struct CompileLog {
  std::vector<KernelResources> kernels;
  /// Lines about serialised matrix instructions, inserted waits and
  /// fences, or ignored register counts: the code is correct but slow.
  std::vector<std::string> serialisations;
};

/// Reads the log of a compile with `--ptxas-options=-v`.
CompileLog read_compile_log(const std::string& log);

}  // namespace tunesmith::cuda
