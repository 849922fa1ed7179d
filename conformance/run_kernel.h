// Running what a target compiled, in this process.
#pragma once

#include <vector>

#include "tunesmith/target/target.h"
#include "tunesmith/verification/tensor.h"

namespace tunesmith::conformance {

/// `arguments`, of which the first `inputs` are only read, after the second of two calls of the kernel,
/// behind its preparation where it has one: the first is made by a new thread, the second by this one, each
/// without a pool and with stale outputs. What touches memory behind its buffers, or writes an input, ends
/// the process. Throws EnvironmentError when the kernel cannot be loaded, writes around its buffers, or
/// leaves another floating-point mode.
std::vector<Tensor> run_kernel(Target& target, const CompiledKernel& compiled, std::vector<Tensor> arguments,
                               size_t inputs);

}  // namespace tunesmith::conformance
