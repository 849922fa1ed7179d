// The emulation of tunesmith_device.cuh, which documents each function: 16-bit numbers, asynchronous copies,
// matrix units of a warp.
#pragma once

#include "emulation_math.h"
#include "float16.h"

inline float f16_to_f32(half_t x) { return tunesmith_emulation::f16_to_f32(x); }
inline half_t f32_to_f16(float x) { return tunesmith_emulation::f32_to_f16(x); }
inline float bf16_to_f32(half_t x) { return tunesmith_emulation::bf16_to_f32(x); }
inline half_t f32_to_bf16(float x) { return tunesmith_emulation::f32_to_bf16(x); }

inline unsigned smem_u32(const void* p) { return tunesmith_emulation::shared_address(p); }

inline void cp_async16(void* s, const void* g, int line = __builtin_LINE()) {
  tunesmith_emulation::copy_async(s, g, 16, 16, line);
}
inline void cp_async8(void* s, const void* g, int line = __builtin_LINE()) {
  tunesmith_emulation::copy_async(s, g, 8, 8, line);
}
inline void cp_async4(void* s, const void* g, int line = __builtin_LINE()) {
  tunesmith_emulation::copy_async(s, g, 4, 4, line);
}
inline void cp_async16_zfill(void* s, const void* g, int source_bytes, int line = __builtin_LINE()) {
  tunesmith_emulation::copy_async(s, g, 16, unsigned(source_bytes), line);
}
inline void cp_async8_zfill(void* s, const void* g, int source_bytes, int line = __builtin_LINE()) {
  tunesmith_emulation::copy_async(s, g, 8, unsigned(source_bytes), line);
}
inline void cp_async4_zfill(void* s, const void* g, int source_bytes, int line = __builtin_LINE()) {
  tunesmith_emulation::copy_async(s, g, 4, unsigned(source_bytes), line);
}
inline void cp_async_commit() { tunesmith_emulation::commit_copies(); }
template <int N>
inline void cp_async_wait() {
  tunesmith_emulation::wait_for_copies(N);
}

#define TUNESMITH_LDMATRIX(name, registers, count, transposed)                            \
  inline void name(unsigned(&r)[registers], const void* s, int line = __builtin_LINE()) { \
    tunesmith_emulation::load_matrices(r, s, count, transposed, line);                    \
  }
TUNESMITH_LDMATRIX(ldmatrix_x1, 1, 1, false)
TUNESMITH_LDMATRIX(ldmatrix_x2, 2, 2, false)
TUNESMITH_LDMATRIX(ldmatrix_x4, 4, 4, false)
TUNESMITH_LDMATRIX(ldmatrix_x1_trans, 1, 1, true)
TUNESMITH_LDMATRIX(ldmatrix_x2_trans, 2, 2, true)
TUNESMITH_LDMATRIX(ldmatrix_x4_trans, 4, 4, true)
#undef TUNESMITH_LDMATRIX

#define TUNESMITH_MMA(name, product, accumulator)                                        \
  inline void name(accumulator(&d)[4], const unsigned(&a)[4], unsigned b0, unsigned b1,  \
                   int line = __builtin_LINE()) {                                        \
    const unsigned b[2] = {b0, b1};                                                      \
    tunesmith_emulation::multiply(tunesmith_emulation::Product::product, d, a, b, line); \
  }
TUNESMITH_MMA(mma_m16n8k16, F16m16n8k16, float)
TUNESMITH_MMA(mma_m16n8k16_bf16, Bf16m16n8k16, float)
TUNESMITH_MMA(mma_m16n8k8_tf32, Tf32m16n8k8, float)
TUNESMITH_MMA(mma_m16n8k32_s8, S8m16n8k32, int)
#undef TUNESMITH_MMA

// Rounds f32 operands to tf32 first.
inline unsigned tf32_bits(unsigned f32) {
  return __builtin_bit_cast(unsigned, round_tf32(__builtin_bit_cast(float, f32)));
}
inline void mma_m16n8k8_f32(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1,
                            int line = __builtin_LINE()) {
  const unsigned rounded[4] = {tf32_bits(a[0]), tf32_bits(a[1]), tf32_bits(a[2]), tf32_bits(a[3])};
  mma_m16n8k8_tf32(d, rounded, tf32_bits(b0), tf32_bits(b1), line);
}
#define TUNESMITH_MMA(name, product, accumulator)                                                        \
  inline void name(accumulator(&d)[4], const unsigned(&a)[2], unsigned b, int line = __builtin_LINE()) { \
    tunesmith_emulation::multiply(tunesmith_emulation::Product::product, d, a, &b, line);                \
  }
TUNESMITH_MMA(mma_m16n8k8, F16m16n8k8, float)
TUNESMITH_MMA(mma_m16n8k16_s8, S8m16n8k16, int)
#undef TUNESMITH_MMA

#define TUNESMITH_WMMA(suffix, type, element, registers, accumulator)                                        \
  template <int column>                                                                                      \
  inline void wmma_load_a##suffix(unsigned(&a)[registers], const element* p, unsigned stride,                \
                                  int line = __builtin_LINE()) {                                             \
    tunesmith_emulation::load_fragment(tunesmith_emulation::FragmentType::type, a, p, stride, column != 0,   \
                                       line);                                                                \
  }                                                                                                          \
  template <int column>                                                                                      \
  inline void wmma_load_b##suffix(unsigned(&b)[registers], const element* p, unsigned stride,                \
                                  int line = __builtin_LINE()) {                                             \
    tunesmith_emulation::load_fragment(tunesmith_emulation::FragmentType::type, b, p, stride, column != 0,   \
                                       line);                                                                \
  }                                                                                                          \
  template <int a_column, int b_column>                                                                      \
  inline void wmma_mma##suffix(accumulator(&d)[8], const unsigned(&a)[registers],                            \
                               const unsigned(&b)[registers], int line = __builtin_LINE()) {                 \
    tunesmith_emulation::multiply_fragments(tunesmith_emulation::FragmentType::type, d, a, b, a_column != 0, \
                                            b_column != 0, line);                                            \
  }
TUNESMITH_WMMA(, F16, half_t, 8, float)
TUNESMITH_WMMA(_bf16, Bf16, half_t, 4, float)
TUNESMITH_WMMA(_s8, S8, signed char, 2, int)
#undef TUNESMITH_WMMA
#define TUNESMITH_WMMA(accumulator)                                                  \
  template <int column>                                                              \
  inline void wmma_load_c(accumulator(&c)[8], const accumulator* p, unsigned stride, \
                          int line = __builtin_LINE()) {                             \
    tunesmith_emulation::load_accumulators(c, p, stride, column != 0, line);         \
  }                                                                                  \
  template <int column>                                                              \
  inline void wmma_store(accumulator* p, const accumulator(&d)[8], unsigned stride,  \
                         int line = __builtin_LINE()) {                              \
    tunesmith_emulation::store_accumulators(p, d, stride, column != 0, line);        \
  }
TUNESMITH_WMMA(float)
TUNESMITH_WMMA(int)
#undef TUNESMITH_WMMA
