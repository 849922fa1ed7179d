// Converts 16-bit floating-point numbers, as bits, to and from f32, rounding to nearest even. Uses neither
// tables nor compiler types, since kernel text, runtime and tests all compile this.
#pragma once

namespace tunesmith_emulation {

inline float f16_to_f32(unsigned short x) {
  // Moves the bits to f32's place and scales by 2^112, the difference of the exponents' biases: exact for
  // denormals.
  const unsigned moved = unsigned(x & 0x7fffu) << 13;
  const unsigned scaled = __builtin_bit_cast(unsigned, __builtin_bit_cast(float, moved) * 0x1p112f);
  const unsigned bits = (x & 0x7c00u) == 0x7c00u ? moved | 0x7f800000u : scaled;
  return __builtin_bit_cast(float, bits | unsigned(x & 0x8000u) << 16);
}

inline unsigned short f32_to_f16(float x) {
  const unsigned bits = __builtin_bit_cast(unsigned, x), sign = bits >> 16 & 0x8000u,
                 rest = bits & 0x7fffffffu;
  if (rest > 0x7f800000u) return (unsigned short)(sign | 0x7e00u);   // NaN
  if (rest >= 0x47800000u) return (unsigned short)(sign | 0x7c00u);  // 65536 and above: infinity
  if (rest < 0x38800000u) {  // below the smallest normal: the sum's last place is the smallest denormal's
    const float sum = __builtin_bit_cast(float, rest) + 0.5f;
    return (unsigned short)(sign | (__builtin_bit_cast(unsigned, sum) - 0x3f000000u));
  }
  const unsigned rounded = rest + 0xfffu + (rest >> 13 & 1u);
  return (unsigned short)(sign | (rounded - 0x38000000u) >> 13);
}

inline float bf16_to_f32(unsigned short x) { return __builtin_bit_cast(float, unsigned(x) << 16); }

inline unsigned short f32_to_bf16(float x) {
  const unsigned bits = __builtin_bit_cast(unsigned, x);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return (unsigned short)(bits >> 16 | 0x40u);
  return (unsigned short)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

}  // namespace tunesmith_emulation
