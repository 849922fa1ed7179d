// Running what a target compiled, in this process.
#pragma once

#include <vector>

#include "tunesmith/interp/tensor.h"
#include "tunesmith/target/target.h"

namespace tunesmith::conformance {

/// `arguments` after a call of the kernel, on one thread, after its preparation where it has one. Throws
/// EnvironmentError when it cannot be loaded.
std::vector<Tensor> run_kernel(Target& target, const CompiledKernel& compiled, std::vector<Tensor> arguments);

}  // namespace tunesmith::conformance
