// The vocabulary of generated kernels: what CUDA C++ has only as inline PTX, each a function of the same name and
// contract on the device (here) and on the emulated one (emulation_matrix.h, emulation_hopper.h). NVRTC is given this
// text by the name tunesmith_device.cuh, so no path is needed.
//
//   f16_to_f32, f32_to_f16, bf16_to_f32, f32_to_bf16     half_t is 16 bits of storage
//   cp_async16 / 8 / 4 [_zfill], cp_async_commit, cp_async_wait<N>     sm_80
//   ldmatrix_x1 / x2 / x4 [_trans]                       sm_75; lane l gives the address of row l % 8 of matrix l / 8
//   mma_m16n8k16, _bf16, mma_m16n8k8_tf32, mma_m16n8k32_s8, mma_m16n8k16_s8     sm_80; mma_m16n8k8 sm_75
//   round_tf32, mma_m16n8k8_f32                          sm_80; of f32 that are rounded to tf32 (cvt.rna)
//   wmma_load_a<column>, wmma_load_b<column>, wmma_mma<a_column, b_column>, wmma_load_c, wmma_store    16x16x16 of
//                                                        f16 (sm_75), _s8 (sm_75), _bf16 (sm_80); opaque fragments
//   wgmma_*, fence_async_shared, mbar_*, tma_load_2d / 3d / 4d, reg_alloc<N>, reg_dealloc<N>     sm_90a
//   group_barrier<number, threads>                       some of a block's warps meet; number 0 is __syncthreads'
//   grouped_tile<tiles, columns, group>                  the tile that a block takes (tunesmith/grid/tile_order.h)
#pragma once

#ifndef __CUDACC__
#include "tunesmith_emulation.h"
#else

typedef unsigned short half_t;

__device__ __forceinline__ float f16_to_f32(half_t x) {
  float value;
  asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(x));
  return value;
}
__device__ __forceinline__ half_t f32_to_f16(float x) {
  half_t value;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(value) : "f"(x));
  return value;
}
__device__ __forceinline__ float bf16_to_f32(half_t x) { return __uint_as_float((unsigned)x << 16); }
__device__ __forceinline__ half_t f32_to_bf16(float x) {
  half_t value;
  asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(value) : "f"(x));
  return value;
}

// To 11 significant bits, ties away from zero.
__device__ __forceinline__ float round_tf32(float x) {
#if __CUDA_ARCH__ >= 800
  unsigned bits;
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
  return __uint_as_float(bits);
#else
  return x != x ? x : __uint_as_float((__float_as_uint(x) + 0x1000u) & 0xffffe000u);
#endif
}
__device__ __forceinline__ double round_tf32(double x) {
  const unsigned long long bits = (unsigned long long)__double_as_longlong(x), half = 1ull << 41;
  return x != x ? x : __longlong_as_double((long long)((bits + half) & ~(2 * half - 1)));
}

__device__ __forceinline__ unsigned smem_u32(const void* p) { return (unsigned)__cvta_generic_to_shared(p); }

__device__ __forceinline__ void cp_async16(void* s, const void* g) {
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(smem_u32(s)), "l"(g) : "memory");
}
__device__ __forceinline__ void cp_async8(void* s, const void* g) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"(smem_u32(s)), "l"(g) : "memory");
}
__device__ __forceinline__ void cp_async4(void* s, const void* g) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(smem_u32(s)), "l"(g) : "memory");
}
// The first source_bytes of 16 (8, 4), then zeros; g is not read where source_bytes is 0.
__device__ __forceinline__ void cp_async16_zfill(void* s, const void* g, int source_bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(smem_u32(s)), "l"(g), "r"(source_bytes) : "memory");
}
__device__ __forceinline__ void cp_async8_zfill(void* s, const void* g, int source_bytes) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 8, %2;" ::"r"(smem_u32(s)), "l"(g), "r"(source_bytes) : "memory");
}
__device__ __forceinline__ void cp_async4_zfill(void* s, const void* g, int source_bytes) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(smem_u32(s)), "l"(g), "r"(source_bytes) : "memory");
}
__device__ __forceinline__ void cp_async_commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int N>
__device__ __forceinline__ void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(N) : "memory");
}

__device__ __forceinline__ void ldmatrix_x1(unsigned (&r)[1], const void* s) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];"
               : "=r"(r[0])
               : "r"(smem_u32(s))
               : "memory");
}
__device__ __forceinline__ void ldmatrix_x1_trans(unsigned (&r)[1], const void* s) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];"
               : "=r"(r[0])
               : "r"(smem_u32(s))
               : "memory");
}
__device__ __forceinline__ void ldmatrix_x2(unsigned (&r)[2], const void* s) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(r[0]), "=r"(r[1])
               : "r"(smem_u32(s))
               : "memory");
}
__device__ __forceinline__ void ldmatrix_x2_trans(unsigned (&r)[2], const void* s) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(r[0]), "=r"(r[1])
               : "r"(smem_u32(s))
               : "memory");
}
__device__ __forceinline__ void ldmatrix_x4(unsigned (&r)[4], const void* s) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(smem_u32(s))
               : "memory");
}
__device__ __forceinline__ void ldmatrix_x4_trans(unsigned (&r)[4], const void* s) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
               : "r"(smem_u32(s))
               : "memory");
}

__device__ __forceinline__ void mma_m16n8k16(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ void mma_m16n8k16_bf16(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ void mma_m16n8k8_tf32(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
// Of f32 operands, which are rounded to tf32 first.
__device__ __forceinline__ unsigned tf32_bits(unsigned f32) { return __float_as_uint(round_tf32(__uint_as_float(f32))); }
__device__ __forceinline__ void mma_m16n8k8_f32(float (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  const unsigned rounded[4] = {tf32_bits(a[0]), tf32_bits(a[1]), tf32_bits(a[2]), tf32_bits(a[3])};
  mma_m16n8k8_tf32(d, rounded, tf32_bits(b0), tf32_bits(b1));
}
__device__ __forceinline__ void mma_m16n8k32_s8(int (&d)[4], const unsigned (&a)[4], unsigned b0, unsigned b1) {
  asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}
__device__ __forceinline__ void mma_m16n8k8(float (&d)[4], const unsigned (&a)[2], unsigned b0) {
  asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(b0));
}
__device__ __forceinline__ void mma_m16n8k16_s8(int (&d)[4], const unsigned (&a)[2], unsigned b0) {
  asm volatile("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
               : "r"(a[0]), "r"(a[1]), "r"(b0));
}

template <int column>
__device__ __forceinline__ void wmma_load_a(unsigned (&a)[8], const half_t* p, unsigned stride) {
  if (column) {
    asm volatile("wmma.load.a.sync.aligned.col.m16n16k16.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], %9;"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]), "=r"(a[4]), "=r"(a[5]), "=r"(a[6]), "=r"(a[7])
                 : "l"(p), "r"(stride)
                 : "memory");
  } else {
    asm volatile("wmma.load.a.sync.aligned.row.m16n16k16.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], %9;"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3]), "=r"(a[4]), "=r"(a[5]), "=r"(a[6]), "=r"(a[7])
                 : "l"(p), "r"(stride)
                 : "memory");
  }
}
template <int column>
__device__ __forceinline__ void wmma_load_b(unsigned (&b)[8], const half_t* p, unsigned stride) {
  if (column) {
    asm volatile("wmma.load.b.sync.aligned.col.m16n16k16.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], %9;"
                 : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3]), "=r"(b[4]), "=r"(b[5]), "=r"(b[6]), "=r"(b[7])
                 : "l"(p), "r"(stride)
                 : "memory");
  } else {
    asm volatile("wmma.load.b.sync.aligned.row.m16n16k16.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], %9;"
                 : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3]), "=r"(b[4]), "=r"(b[5]), "=r"(b[6]), "=r"(b[7])
                 : "l"(p), "r"(stride)
                 : "memory");
  }
}
template <int a_column, int b_column>
__device__ __forceinline__ void wmma_mma(float (&d)[8], const unsigned (&a)[8], const unsigned (&b)[8]) {
#define TUNESMITH_WMMA(layouts)                                                                     \
  asm volatile("wmma.mma.sync.aligned." layouts ".m16n16k16.f32.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11, %12, %13, %14, %15}, {%16, %17, %18, %19, %20, %21, %22, %23}, {%0, %1, %2, %3, %4, %5, %6, %7};"  \
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])  \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]), "r"(a[6]), "r"(a[7]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "r"(b[4]), "r"(b[5]), "r"(b[6]), "r"(b[7]))
  if (a_column && b_column) TUNESMITH_WMMA("col.col");
  if (a_column && !b_column) TUNESMITH_WMMA("col.row");
  if (!a_column && b_column) TUNESMITH_WMMA("row.col");
  if (!a_column && !b_column) TUNESMITH_WMMA("row.row");
#undef TUNESMITH_WMMA
}
template <int column>
__device__ __forceinline__ void wmma_load_a_bf16(unsigned (&a)[4], const half_t* p, unsigned stride) {
  if (column) {
    asm volatile("wmma.load.a.sync.aligned.col.m16n16k16.bf16 {%0, %1, %2, %3}, [%4], %5;"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                 : "l"(p), "r"(stride)
                 : "memory");
  } else {
    asm volatile("wmma.load.a.sync.aligned.row.m16n16k16.bf16 {%0, %1, %2, %3}, [%4], %5;"
                 : "=r"(a[0]), "=r"(a[1]), "=r"(a[2]), "=r"(a[3])
                 : "l"(p), "r"(stride)
                 : "memory");
  }
}
template <int column>
__device__ __forceinline__ void wmma_load_b_bf16(unsigned (&b)[4], const half_t* p, unsigned stride) {
  if (column) {
    asm volatile("wmma.load.b.sync.aligned.col.m16n16k16.bf16 {%0, %1, %2, %3}, [%4], %5;"
                 : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3])
                 : "l"(p), "r"(stride)
                 : "memory");
  } else {
    asm volatile("wmma.load.b.sync.aligned.row.m16n16k16.bf16 {%0, %1, %2, %3}, [%4], %5;"
                 : "=r"(b[0]), "=r"(b[1]), "=r"(b[2]), "=r"(b[3])
                 : "l"(p), "r"(stride)
                 : "memory");
  }
}
template <int a_column, int b_column>
__device__ __forceinline__ void wmma_mma_bf16(float (&d)[8], const unsigned (&a)[4], const unsigned (&b)[4]) {
#define TUNESMITH_WMMA(layouts)                                                                     \
  asm volatile("wmma.mma.sync.aligned." layouts ".m16n16k16.f32.bf16.bf16.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3, %4, %5, %6, %7};"  \
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]), "+f"(d[7])  \
               : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]))
  if (a_column && b_column) TUNESMITH_WMMA("col.col");
  if (a_column && !b_column) TUNESMITH_WMMA("col.row");
  if (!a_column && b_column) TUNESMITH_WMMA("row.col");
  if (!a_column && !b_column) TUNESMITH_WMMA("row.row");
#undef TUNESMITH_WMMA
}
template <int column>
__device__ __forceinline__ void wmma_load_a_s8(unsigned (&a)[2], const signed char* p, unsigned stride) {
  if (column) {
    asm volatile("wmma.load.a.sync.aligned.col.m16n16k16.s8 {%0, %1}, [%2], %3;"
                 : "=r"(a[0]), "=r"(a[1])
                 : "l"(p), "r"(stride)
                 : "memory");
  } else {
    asm volatile("wmma.load.a.sync.aligned.row.m16n16k16.s8 {%0, %1}, [%2], %3;"
                 : "=r"(a[0]), "=r"(a[1])
                 : "l"(p), "r"(stride)
                 : "memory");
  }
}
template <int column>
__device__ __forceinline__ void wmma_load_b_s8(unsigned (&b)[2], const signed char* p, unsigned stride) {
  if (column) {
    asm volatile("wmma.load.b.sync.aligned.col.m16n16k16.s8 {%0, %1}, [%2], %3;"
                 : "=r"(b[0]), "=r"(b[1])
                 : "l"(p), "r"(stride)
                 : "memory");
  } else {
    asm volatile("wmma.load.b.sync.aligned.row.m16n16k16.s8 {%0, %1}, [%2], %3;"
                 : "=r"(b[0]), "=r"(b[1])
                 : "l"(p), "r"(stride)
                 : "memory");
  }
}
template <int a_column, int b_column>
__device__ __forceinline__ void wmma_mma_s8(int (&d)[8], const unsigned (&a)[2], const unsigned (&b)[2]) {
#define TUNESMITH_WMMA(layouts)                                                                     \
  asm volatile("wmma.mma.sync.aligned." layouts ".m16n16k16.s32.s8.s8.s32 {%0, %1, %2, %3, %4, %5, %6, %7}, {%8, %9}, {%10, %11}, {%0, %1, %2, %3, %4, %5, %6, %7};"  \
               : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7])  \
               : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]))
  if (a_column && b_column) TUNESMITH_WMMA("col.col");
  if (a_column && !b_column) TUNESMITH_WMMA("col.row");
  if (!a_column && b_column) TUNESMITH_WMMA("row.col");
  if (!a_column && !b_column) TUNESMITH_WMMA("row.row");
#undef TUNESMITH_WMMA
}
template <int column>
__device__ __forceinline__ void wmma_load_c(float (&c)[8], const float* p, unsigned stride) {
  if (column) {
    asm volatile("wmma.load.c.sync.aligned.col.m16n16k16.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], %9;" : "=f"(c[0]), "=f"(c[1]), "=f"(c[2]), "=f"(c[3]), "=f"(c[4]), "=f"(c[5]), "=f"(c[6]), "=f"(c[7]) : "l"(p), "r"(stride) : "memory");
  } else {
    asm volatile("wmma.load.c.sync.aligned.row.m16n16k16.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], %9;" : "=f"(c[0]), "=f"(c[1]), "=f"(c[2]), "=f"(c[3]), "=f"(c[4]), "=f"(c[5]), "=f"(c[6]), "=f"(c[7]) : "l"(p), "r"(stride) : "memory");
  }
}
template <int column>
__device__ __forceinline__ void wmma_store(float* p, const float (&d)[8], unsigned stride) {
  if (column) {
    asm volatile("wmma.store.d.sync.aligned.col.m16n16k16.f32 [%0], {%2, %3, %4, %5, %6, %7, %8, %9}, %1;" ::"l"(p), "r"(stride), "f"(d[0]), "f"(d[1]), "f"(d[2]), "f"(d[3]), "f"(d[4]), "f"(d[5]), "f"(d[6]), "f"(d[7]) : "memory");
  } else {
    asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.f32 [%0], {%2, %3, %4, %5, %6, %7, %8, %9}, %1;" ::"l"(p), "r"(stride), "f"(d[0]), "f"(d[1]), "f"(d[2]), "f"(d[3]), "f"(d[4]), "f"(d[5]), "f"(d[6]), "f"(d[7]) : "memory");
  }
}
template <int column>
__device__ __forceinline__ void wmma_load_c(int (&c)[8], const int* p, unsigned stride) {
  if (column) {
    asm volatile("wmma.load.c.sync.aligned.col.m16n16k16.s32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], %9;" : "=r"(c[0]), "=r"(c[1]), "=r"(c[2]), "=r"(c[3]), "=r"(c[4]), "=r"(c[5]), "=r"(c[6]), "=r"(c[7]) : "l"(p), "r"(stride) : "memory");
  } else {
    asm volatile("wmma.load.c.sync.aligned.row.m16n16k16.s32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], %9;" : "=r"(c[0]), "=r"(c[1]), "=r"(c[2]), "=r"(c[3]), "=r"(c[4]), "=r"(c[5]), "=r"(c[6]), "=r"(c[7]) : "l"(p), "r"(stride) : "memory");
  }
}
template <int column>
__device__ __forceinline__ void wmma_store(int* p, const int (&d)[8], unsigned stride) {
  if (column) {
    asm volatile("wmma.store.d.sync.aligned.col.m16n16k16.s32 [%0], {%2, %3, %4, %5, %6, %7, %8, %9}, %1;" ::"l"(p), "r"(stride), "r"(d[0]), "r"(d[1]), "r"(d[2]), "r"(d[3]), "r"(d[4]), "r"(d[5]), "r"(d[6]), "r"(d[7]) : "memory");
  } else {
    asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.s32 [%0], {%2, %3, %4, %5, %6, %7, %8, %9}, %1;" ::"l"(p), "r"(stride), "r"(d[0]), "r"(d[1]), "r"(d[2]), "r"(d[3]), "r"(d[4]), "r"(d[5]), "r"(d[6]), "r"(d[7]) : "memory");
  }
}

template <int number, int threads>
__device__ __forceinline__ void group_barrier() {
  asm volatile("bar.sync %0, %1;" ::"n"(number), "n"(threads) : "memory");
}

// This thread's writes to shared memory, before wgmma reads them.
__device__ __forceinline__ void fence_async_shared() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ __forceinline__ void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
// An accumulator's value is in its register here, and not put there behind a fence that follows.
__device__ __forceinline__ void wgmma_set(float& accumulator) { asm volatile("" : "+f"(accumulator)::"memory"); }
__device__ __forceinline__ void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }
template <int N>
__device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(N) : "memory");
}
// A matrix descriptor for the 128-byte swizzle; leading and stride are bytes.
__device__ __forceinline__ unsigned long long wgmma_desc(const void* p, unsigned leading, unsigned stride) {
  return (unsigned long long)((smem_u32(p) & 0x3FFFF) >> 4) | (unsigned long long)(leading >> 4) << 16 |
         (unsigned long long)(stride >> 4) << 32 | 1ull << 62;
}
// The sums, 32 registers at a time: their numbers in the instruction's text, and the operands.
#define TUNESMITH_NUMBERS_0 \
  "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, " \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define TUNESMITH_NUMBERS_32 \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define TUNESMITH_NUMBERS_64 \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, " \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define TUNESMITH_NUMBERS_96 \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
#define TUNESMITH_SUMS_8(i) \
  "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define TUNESMITH_SUMS_32(i) TUNESMITH_SUMS_8(i), TUNESMITH_SUMS_8(i + 8), TUNESMITH_SUMS_8(i + 16), TUNESMITH_SUMS_8(i + 24)
// After the sums come a, b, accumulate, a_column_major and b_row_major, whose numbers in the text are the next five.
#define TUNESMITH_WGMMA(columns, of, types, registers, numbers, at_a, at_b, at_accumulate, at_a_major, at_b_major, ...) \
  template <int b_row_major, int a_column_major = 0> \
  __device__ __forceinline__ void wgmma_m64n##columns##k16##of(float (&d)[registers], unsigned long long a, unsigned long long b, \
                                                              int accumulate) { \
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, " at_accumulate ", 0;\n" \
                 "wgmma.mma_async.sync.aligned.m64n" #columns "k16.f32." types " {" numbers "}, " at_a ", " at_b \
                 ", p, 1, 1, " at_a_major ", " at_b_major ";\n}\n" \
                 : __VA_ARGS__ \
                 : "l"(a), "l"(b), "r"(accumulate), "n"(a_column_major), "n"(b_row_major)); \
  }
#define TUNESMITH_WGMMA_TYPES(columns, ...) \
  TUNESMITH_WGMMA(columns, , "f16.f16", __VA_ARGS__) \
  TUNESMITH_WGMMA(columns, _bf16, "bf16.bf16", __VA_ARGS__)
TUNESMITH_WGMMA_TYPES(64, 32, TUNESMITH_NUMBERS_0, "%32", "%33", "%34", "%35", "%36",
                      TUNESMITH_SUMS_32(0))
TUNESMITH_WGMMA_TYPES(128, 64, TUNESMITH_NUMBERS_0 ", " TUNESMITH_NUMBERS_32, "%64", "%65", "%66", "%67", "%68",
                      TUNESMITH_SUMS_32(0), TUNESMITH_SUMS_32(32))
TUNESMITH_WGMMA_TYPES(192, 96, TUNESMITH_NUMBERS_0 ", " TUNESMITH_NUMBERS_32 ", " TUNESMITH_NUMBERS_64, "%96", "%97", "%98", "%99", "%100",
                      TUNESMITH_SUMS_32(0), TUNESMITH_SUMS_32(32), TUNESMITH_SUMS_32(64))
TUNESMITH_WGMMA_TYPES(256, 128, TUNESMITH_NUMBERS_0 ", " TUNESMITH_NUMBERS_32 ", " TUNESMITH_NUMBERS_64 ", " TUNESMITH_NUMBERS_96, "%128", "%129", "%130", "%131", "%132",
                      TUNESMITH_SUMS_32(0), TUNESMITH_SUMS_32(32), TUNESMITH_SUMS_32(64), TUNESMITH_SUMS_32(96))
#undef TUNESMITH_WGMMA_TYPES
#undef TUNESMITH_WGMMA
#undef TUNESMITH_SUMS_32
#undef TUNESMITH_SUMS_8
#undef TUNESMITH_NUMBERS_96
#undef TUNESMITH_NUMBERS_64
#undef TUNESMITH_NUMBERS_32
#undef TUNESMITH_NUMBERS_0

// As large and as aligned as the driver's CUtensorMap.
struct __align__(64) TensorMap {
  unsigned long long opaque[16];
};
__device__ __forceinline__ void mbar_init(void* barrier, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(smem_u32(barrier)), "r"(count) : "memory");
}
__device__ __forceinline__ void fence_mbar_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
// Arrives, and expects so many bytes of copies in this phase.
__device__ __forceinline__ void mbar_expect(void* barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(smem_u32(barrier)), "r"(bytes) : "memory");
}
__device__ __forceinline__ void mbar_arrive(void* barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(smem_u32(barrier)) : "memory");
}
// Until the phase of this parity is complete.
__device__ __forceinline__ void mbar_wait(void* barrier, int parity) {
  asm volatile(
      "{\n.reg .pred p;\nWAIT:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@p bra DONE;\nbra WAIT;\nDONE:\n}"
      ::"r"(smem_u32(barrier)), "r"(parity) : "memory");
}
// The box of the map whose first element is (x, y ..), x along the innermost dimension.
__device__ __forceinline__ void tma_load_2d(void* s, const TensorMap* map, int x, int y, void* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];"
      ::"r"(smem_u32(s)), "l"(map), "r"(x), "r"(y), "r"(smem_u32(barrier)) : "memory");
}
__device__ __forceinline__ void tma_load_3d(void* s, const TensorMap* map, int x, int y, int z, void* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4}], [%5];"
      ::"r"(smem_u32(s)), "l"(map), "r"(x), "r"(y), "r"(z), "r"(smem_u32(barrier)) : "memory");
}
__device__ __forceinline__ void tma_load_4d(void* s, const TensorMap* map, int x, int y, int z, int w, void* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6];"
      ::"r"(smem_u32(s)), "l"(map), "r"(x), "r"(y), "r"(z), "r"(w), "r"(smem_u32(barrier)) : "memory");
}
template <int N>
__device__ __forceinline__ void reg_alloc() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(N));
}
template <int N>
__device__ __forceinline__ void reg_dealloc() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(N));
}

#endif

// Of matrices of tiles, row by row with so many in each: the first tiles of a group's rows, their second ones and so on, then those
// of the next group. The last group may have fewer rows.
template <int tiles, int columns, int group>
__device__ __forceinline__ int grouped_tile(int position) {
  const int rows = tiles / columns, first = position / (columns * group) * group, within = position - first * columns;
  const int height = rows % group == 0 || first + group <= rows ? group : rows - first;
  return (first + within % height) * columns + within / height;
}
