// C[M,N] (f32) = A[M,K] B[K,N] in f16, row-major; M % 64 == N % 128 == K % 64 == 0. Grid (N / 128, M / 64), one
// warpgroup; STAGES * 24576 + 1024 bytes of dynamic shared memory. sm_90a: cp.async, wgmma from 128-byte swizzled tiles.
#include "tunesmith_device.cuh"
#define STAGES 4
#define STAGE_BYTES 24576  // A 64 x 64 in rows of 128 bytes, B 64 x 128 as two panels of 64 columns
extern "C" __global__ void __launch_bounds__(128, 1)
    hgemm(const half_t* __restrict__ A, const half_t* __restrict__ B, float* __restrict__ C, int M, int N, int K) {
  extern __shared__ __align__(1024) char smem[];
  char* tile = smem + ((1024 - (smem_u32(smem) & 1023)) & 1023);
  const int t = threadIdx.x, lane = t & 31, warp = t >> 5, steps = K / 64;
  const half_t* Ag = A + (blockIdx.y * 64 + (t >> 3)) * K + (t & 7) * 8;   // rows t / 8 + 16 i
  const half_t* Bg = B + (t >> 4) * N + blockIdx.x * 128 + (t & 15) * 8;   // rows t / 16 + 8 i
  const int a_to = (t >> 3) * 128 + (((t & 7) ^ ((t >> 3) & 7)) << 4);
  const int b_to = 8192 + ((t & 15) >> 3) * 8192 + (t >> 4) * 128 + (((t & 7) ^ ((t >> 4) & 7)) << 4);
  auto fetch = [&](int stage) {
    char* p = tile + stage * STAGE_BYTES;
#pragma unroll
    for (int i = 0; i < 4; i++) cp_async16(p + a_to + i * 2048, Ag + i * 16 * K);
#pragma unroll
    for (int i = 0; i < 8; i++) cp_async16(p + b_to + i * 1024, Bg + i * 8 * N);
    Ag += 64;
    Bg += 64 * N;
  };
  float acc[64];
#pragma unroll
  for (int i = 0; i < 64; i++) acc[i] = 0.f;
  // A product stays in flight over the next step's beginning: its stage is free one step later.
#pragma unroll
  for (int s = 0; s < STAGES - 2; s++) {
    if (s < steps) fetch(s);
    cp_async_commit();
  }
#pragma unroll 1
  for (int s = 0; s < steps; s++) {
    cp_async_wait<STAGES - 3>();
    fence_async_shared();
    __syncthreads();
    if (s + STAGES - 2 < steps) fetch((s + STAGES - 2) % STAGES);
    cp_async_commit();
    const char* p = tile + s % STAGES * STAGE_BYTES;
    const unsigned long long da = wgmma_desc(p, 16, 1024), db = wgmma_desc(p + 8192, 8192, 1024);
    wgmma_fence();
#pragma unroll
    for (int k = 0; k < 4; k++) wgmma_m64n128k16<1>(acc, da + k * 2, db + k * 128, 1);
    wgmma_commit();
    wgmma_wait<1>();
  }
  wgmma_wait<0>();
#pragma unroll
  for (int j = 0; j < 16; j++) {
    const int row = blockIdx.y * 64 + warp * 16 + (lane >> 2), col = blockIdx.x * 128 + j * 8 + (lane & 3) * 2;
    *(float2*)(C + row * N + col) = make_float2(acc[j * 4], acc[j * 4 + 1]);
    *(float2*)(C + (row + 8) * N + col) = make_float2(acc[j * 4 + 2], acc[j * 4 + 3]);
  }
}
