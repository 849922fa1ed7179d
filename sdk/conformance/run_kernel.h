// Running what a target compiled, in this process.
#pragma once

#include <memory>
#include <vector>

#include "tunesmith/target/target.h"
#include "tunesmith/verification/tensor.h"

namespace tunesmith::conformance {

/// A kernel in memory, for as many runs as its caller has data. `compiled` must outlive it.
class KernelRuns {
 public:
  /// The first `inputs` of the arguments are read-only. Throws EnvironmentError when the kernel cannot be
  /// loaded.
  KernelRuns(Target& target, const CompiledKernel& compiled, size_t inputs);

  /// Calls the kernel without a pool and with stale outputs, after its preparation if it has one, and answers
  /// `arguments` as the call leaves them. The first run calls it from a new thread before it does so from
  /// this one. What touches memory behind its buffers, or writes an input, ends the process. Throws
  /// EnvironmentError when the kernel writes around its buffers, or leaves another floating-point mode.
  std::vector<Tensor> run(std::vector<Tensor> arguments);

 private:
  const CompiledKernel& compiled_;
  size_t inputs_;
  std::unique_ptr<LoadedKernel> kernel_;
  bool called_ = false;
};

}  // namespace tunesmith::conformance
