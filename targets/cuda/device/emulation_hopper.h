// The emulation of sm_90a's features: products of a warpgroup from shared memory, barriers in shared memory
// that count bytes, copies of boxes of a tensor, registers that move between warpgroups.
#pragma once

#include "emulation_matrix.h"

using TensorMap = tunesmith_emulation::TensorMap;

inline void fence_async_shared() { tunesmith_emulation::fence_async_proxy(); }
inline void wgmma_fence() { tunesmith_emulation::fence_products(); }
inline void wgmma_set(float& /*accumulator*/) {}
inline void wgmma_commit() { tunesmith_emulation::commit_products(); }
template <int N>
inline void wgmma_wait(int line = __builtin_LINE()) {
  tunesmith_emulation::wait_for_products(N, line);
}
inline unsigned long long wgmma_desc(const void* p, unsigned leading, unsigned stride) {
  return (unsigned long long)((smem_u32(p) & 0x3FFFF) >> 4) | (unsigned long long)(leading >> 4) << 16 |
         (unsigned long long)(stride >> 4) << 32 | 1ull << 62;
}
#define TUNESMITH_WGMMA(n, type, bf16)                                                                      \
  template <int b_row_major, int a_column_major = 0>                                                        \
  inline void wgmma_m64n##n##k16##type(float(&d)[n / 2], unsigned long long a, unsigned long long b,        \
                                       int accumulate, int line = __builtin_LINE()) {                       \
    tunesmith_emulation::multiply_group(d, n, a, b, a_column_major != 0, b_row_major != 0, accumulate != 0, \
                                        bf16, line);                                                        \
  }
TUNESMITH_WGMMA(64, , false)
TUNESMITH_WGMMA(128, , false)
TUNESMITH_WGMMA(192, , false)
TUNESMITH_WGMMA(256, , false)
TUNESMITH_WGMMA(64, _bf16, true)
TUNESMITH_WGMMA(128, _bf16, true)
TUNESMITH_WGMMA(192, _bf16, true)
TUNESMITH_WGMMA(256, _bf16, true)
#undef TUNESMITH_WGMMA

inline void mbar_init(void* barrier, int count) {
  tunesmith_emulation::init_mbarrier(barrier, unsigned(count));
}
inline void fence_mbar_init() { tunesmith_emulation::fence_mbarriers(); }
inline void mbar_arrive(void* barrier) { tunesmith_emulation::arrive_mbarrier(barrier, 0); }
inline void mbar_expect(void* barrier, int bytes) {
  tunesmith_emulation::arrive_mbarrier(barrier, unsigned(bytes));
}
inline void mbar_wait(void* barrier, int parity, int line = __builtin_LINE()) {
  tunesmith_emulation::wait_mbarrier(barrier, unsigned(parity), line);
}
inline void tma_load_2d(void* s, const TensorMap* map, int x, int y, void* barrier,
                        int line = __builtin_LINE()) {
  tunesmith_emulation::copy_box(s, map, 2, {{x, y, 0, 0}}, barrier, line);
}
inline void tma_load_3d(void* s, const TensorMap* map, int x, int y, int z, void* barrier,
                        int line = __builtin_LINE()) {
  tunesmith_emulation::copy_box(s, map, 3, {{x, y, z, 0}}, barrier, line);
}
inline void tma_load_4d(void* s, const TensorMap* map, int x, int y, int z, int w, void* barrier,
                        int line = __builtin_LINE()) {
  tunesmith_emulation::copy_box(s, map, 4, {{x, y, z, w}}, barrier, line);
}
template <int N>
inline void reg_alloc(int line = __builtin_LINE()) {
  static_assert(N % 8 == 0 && N >= 24 && N <= 256, "setmaxnreg takes multiples of 8 from 24 to 256");
  tunesmith_emulation::move_registers(N, true, line);
}
template <int N>
inline void reg_dealloc(int line = __builtin_LINE()) {
  static_assert(N % 8 == 0 && N >= 24 && N <= 256, "setmaxnreg takes multiples of 8 from 24 to 256");
  tunesmith_emulation::move_registers(N, false, line);
}
