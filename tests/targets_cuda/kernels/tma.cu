// C[M,N] (f32) = A[M,K] B[K,N] in f16, row-major; M % 64 == N % 128 == K % 64 == 0. Grid (N / 128, M / 64), two
// warpgroups: one thread of the first fetches boxes, the second multiplies; STAGES * 24576 + 2048 bytes of dynamic shared
// memory. sm_90a. Maps with the 128-byte swizzle: A extents {K, M}, box {64, 64}; B extents {N, K}, box {64, 64}.
#include "tunesmith_device.cuh"
#define STAGES 3
#define STAGE_BYTES 24576  // A 64 x 64 in rows of 128 bytes, B 64 x 128 as two panels of 64 columns
extern "C" __global__ void __launch_bounds__(256, 1)
    hgemm(const __grid_constant__ TensorMap a_map, const __grid_constant__ TensorMap b_map, float* __restrict__ C, int M, int N,
          int K) {
  extern __shared__ __align__(1024) char smem[];
  char* tile = smem + ((1024 - (smem_u32(smem) & 1023)) & 1023);
  unsigned long long* full = (unsigned long long*)(tile + STAGES * STAGE_BYTES);
  unsigned long long* empty = full + STAGES;
  const int t = threadIdx.x, steps = K / 64;
  const int group = __shfl_sync(0xffffffffu, t >> 7, 0);
  if (t == 0) {
    for (int i = 0; i < STAGES; i++) {
      mbar_init(full + i, 1);
      mbar_init(empty + i, 1);
    }
    fence_mbar_init();
  }
  __syncthreads();
  if (group == 0) {
    reg_dealloc<40>();
    if (t == 0) {
      for (int s = 0; s < steps; s++) {
        const int stage = s % STAGES, phase = s / STAGES & 1;
        mbar_wait(empty + stage, phase ^ 1);
        mbar_expect(full + stage, STAGE_BYTES);
        char* p = tile + stage * STAGE_BYTES;
        tma_load_2d(p, &a_map, s * 64, blockIdx.y * 64, full + stage);
        tma_load_2d(p + 8192, &b_map, blockIdx.x * 128, s * 64, full + stage);
        tma_load_2d(p + 16384, &b_map, blockIdx.x * 128 + 64, s * 64, full + stage);
      }
    }
  } else {
    reg_alloc<248>();
    const int lane = t & 31, warp = (t >> 5) & 3;
    float acc[64];
#pragma unroll
    for (int i = 0; i < 64; i++) acc[i] = 0.f;
#pragma unroll 1
    for (int s = 0; s < steps; s++) {
      const int stage = s % STAGES, phase = s / STAGES & 1;
      mbar_wait(full + stage, phase);
      const char* p = tile + stage * STAGE_BYTES;
      const unsigned long long da = wgmma_desc(p, 16, 1024), db = wgmma_desc(p + 8192, 8192, 1024);
      wgmma_fence();
#pragma unroll
      for (int k = 0; k < 4; k++) wgmma_m64n128k16<1>(acc, da + k * 2, db + k * 128, 1);
      wgmma_commit();
      wgmma_wait<1>();
      if (s > 0 && lane == 0 && warp == 0) mbar_arrive(empty + (s - 1) % STAGES);
    }
    wgmma_wait<0>();
#pragma unroll
    for (int j = 0; j < 16; j++) {
      const int row = blockIdx.y * 64 + warp * 16 + (lane >> 2), col = blockIdx.x * 128 + j * 8 + (lane & 3) * 2;
      *(float2*)(C + row * N + col) = make_float2(acc[j * 4], acc[j * 4 + 1]);
      *(float2*)(C + (row + 8) * N + col) = make_float2(acc[j * 4 + 2], acc[j * 4 + 3]);
    }
  }
}
