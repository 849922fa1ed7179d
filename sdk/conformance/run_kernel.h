// Runs a compiled kernel in this process.
#pragma once

#include <memory>
#include <vector>

#include "tunesmith/target/target.h"
#include "tunesmith/verification/tensor.h"

namespace tunesmith::conformance {

/// A kernel in memory, for any number of runs. `compiled` must outlive it.
class KernelRuns {
 public:
  /// The first `inputs` arguments are read-only. Throws
  /// EnvironmentError if the kernel cannot be loaded.
  KernelRuns(Target& target, const CompiledKernel& compiled, size_t inputs);

  /// Calls the kernel without a pool and with stale outputs, after its preparation if any, and
  /// returns `arguments` as changed by the call. The first run also calls it from a new thread.
  /// Accesses behind buffers and writes to inputs end the process. Throws EnvironmentError if
  /// the kernel writes around its buffers or changes the floating-point mode.
  std::vector<Tensor> run(std::vector<Tensor> arguments);

 private:
  const CompiledKernel& compiled_;
  size_t inputs_;
  std::unique_ptr<LoadedKernel> kernel_;
  bool called_ = false;
};

}  // namespace tunesmith::conformance
