// What ptxas says of the kernels that it compiled.
#pragma once

#include <string>
#include <vector>

namespace tunesmith::cuda {

/// What one kernel takes.
struct KernelResources {
  std::string name;
  unsigned registers = 0;  // of a thread
  size_t stack_bytes = 0;  // of a thread: arrays that are not registers, and spills
  size_t spill_store_bytes = 0, spill_load_bytes = 0;
  size_t static_shared_bytes = 0;  // of a block
};

struct CompileLog {
  std::vector<KernelResources> kernels;
  /// Lines that tell of matrix instructions that wait for one another, of waits and fences that the compiler
  /// had to insert, or of register counts that it ignored: the code is right, and slow.
  std::vector<std::string> serialisations;
};

/// Reads the log of a compile with `--ptxas-options=-v`.
CompileLog read_compile_log(const std::string& log);

}  // namespace tunesmith::cuda
