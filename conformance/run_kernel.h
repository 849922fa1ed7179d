// Running what a target compiled, in this process.
#pragma once

#include <vector>

#include "tunesmith/interp/tensor.h"
#include "tunesmith/target/target.h"

namespace tunesmith::conformance {

/// `arguments`, of which the first `inputs` are only read, after a call of the kernel, on one thread, after
/// its preparation where it has one. What touches memory behind its buffers, or writes an input, ends the
/// process. Throws EnvironmentError when the kernel cannot be loaded, writes around its buffers, or leaves
/// another floating-point mode.
std::vector<Tensor> run_kernel(Target& target, const CompiledKernel& compiled, std::vector<Tensor> arguments,
                               size_t inputs);

}  // namespace tunesmith::conformance
