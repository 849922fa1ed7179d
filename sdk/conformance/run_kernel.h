// Running what a target compiled, in this process.
#pragma once

#include <vector>

#include "tunesmith/target/target.h"
#include "tunesmith/verification/tensor.h"

namespace tunesmith::conformance {

/// Calls the kernel twice, after its preparation if it has one: from a new thread, then from this one, each
/// time without a pool and with stale outputs. Answers `arguments` as the second call leaves them; the first
/// `inputs` are read-only. What touches memory behind its buffers, or writes an input, ends
/// the process. Throws EnvironmentError when the kernel cannot be loaded, writes around its buffers, or
/// leaves another floating-point mode.
std::vector<Tensor> run_kernel(Target& target, const CompiledKernel& compiled, std::vector<Tensor> arguments,
                               size_t inputs);

}  // namespace tunesmith::conformance
