// Parses the arguments of a kernel from the command line.
#pragma once

#include <string>
#include <vector>

#include "emulation/emulated_kernel.h"
#include "tunesmith/support/random.h"

namespace tunesmith::cuda {

enum class ElementType { F32, F16, Bf16, S32, S8 };

struct CheckedArgument {
  EmulatedArgument argument;
  ElementType type = ElementType::F32;
  bool output = false;  // initialised as NaN (integers: all ones), and compared
};

/// Reads one of
///   A=f32[65536]         a buffer of random numbers (types: f32, f16, bf16, s32, s8)
///   C=out:f32[65536]     a buffer that the kernel writes
///   A=hidden:f16[65536]  a buffer that only a tensor map points to: no argument of its own
///   M=256, alpha=0.5     a number, int or float
///   a=map:A:512,256:64,128   a TensorMap of A: extents and box, the innermost first
/// Throws UserError.
CheckedArgument read_argument(const std::string& text);

/// Random numbers: -1 to 1, whole ones -8 to 8.
void fill(CheckedArgument& argument, RandomStream& random);

/// The largest difference between two contents of an output, divided
/// by the largest expected magnitude; infinite if one is NaN.
double largest_error(const CheckedArgument& got, const CheckedArgument& expected);

}  // namespace tunesmith::cuda
