// Properties of the processor and options of the user for the emitter.
#pragma once

#include <cstdint>

namespace tunesmith::llvm_target {

struct CodegenTraits {
  int64_t vector_bits = 128;
  bool contract = true;
  bool reassociate = false;
  bool reciprocal = true;
  bool fma = false;             // fused multiply-add in hardware
  bool f16_arithmetic = false;  // f16 sums and products in hardware
  bool bf16_convert = false;    // rounding f32 to bf16 in hardware
  unsigned permuted_lanes = 0;  // of the widest permutation of f32 by an index a lane, beside fma; 0: none
};

}  // namespace tunesmith::llvm_target
