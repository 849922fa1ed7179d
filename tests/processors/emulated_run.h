// Runs kernels for AArch64 in QEMU's emulation of user programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tunesmith/target/target.h"
#include "tunesmith/verification/tensor.h"

namespace tunesmith::testing {

/// A program that running needs and that is not installed, or "".
std::string missing_for_emulation();

/// The arguments after one call of the kernel, whose symbol is "kernel". `sve_bits`: the length of SVE's
/// vectors, or 0 for a processor without SVE. Throws Error when the program is refused or ends with a fault.
std::vector<Tensor> run_emulated(const CompiledKernel& kernel, std::vector<Tensor> arguments,
                                 int64_t sve_bits);

}  // namespace tunesmith::testing
