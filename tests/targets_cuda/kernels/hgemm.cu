// C[M,N] (f32) = A[M,K] B[K,N] in f16, row-major; M % 64 == N % 64 == K % 32 == 0. Grid (N / 64, M / 64), 128 threads: 4
// warps of 32 x 32; STAGES * 8192 bytes of dynamic shared memory. sm_80: cp.async, ldmatrix, mma.sync.
#include "tunesmith_device.cuh"
#define STAGES 3
#define STAGE_BYTES 8192  // A 64 x 32 in rows of 64 bytes, B 32 x 64 in rows of 128
extern "C" __global__ void __launch_bounds__(128)
    hgemm(const half_t* __restrict__ A, const half_t* __restrict__ B, float* __restrict__ C, int M, int N, int K) {
  extern __shared__ __align__(128) char smem[];
  const int t = threadIdx.x, lane = t & 31, warp = t >> 5;
  const int wm = (warp >> 1) * 32, wn = (warp & 1) * 32, steps = K / 32;
  const half_t* Ag = A + (blockIdx.y * 64 + (t >> 2)) * K + (t & 3) * 8;  // rows t / 4 + 32 i
  const half_t* Bg = B + (t >> 3) * N + blockIdx.x * 64 + (t & 7) * 8;    // rows t / 8 + 16 i
  const int a_to = (t >> 2) * 64 + (((t & 3) ^ ((t >> 3) & 3)) << 4);
  const int b_to = 4096 + (t >> 3) * 128 + (((t & 7) ^ ((t >> 3) & 7)) << 4);
  auto fetch = [&](int stage) {
    char* p = smem + stage * STAGE_BYTES;
#pragma unroll
    for (int i = 0; i < 2; i++) cp_async16(p + a_to + i * 2048, Ag + i * 32 * K);
#pragma unroll
    for (int i = 0; i < 2; i++) cp_async16(p + b_to + i * 2048, Bg + i * 16 * N);
    Ag += 32;
    Bg += 32 * N;
  };
  float acc[2][4][4];
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int j = 0; j < 4; j++)
#pragma unroll
      for (int e = 0; e < 4; e++) acc[i][j][e] = 0.f;
#pragma unroll
  for (int s = 0; s < STAGES - 1; s++) {
    if (s < steps) fetch(s);
    cp_async_commit();  // prologue
  }
  const int fr = lane & 15, fh = lane >> 4;
#pragma unroll 1
  for (int s = 0; s < steps; s++) {
    cp_async_wait<STAGES - 2>();
    __syncthreads();
    if (s + STAGES - 1 < steps) fetch((s + STAGES - 1) % STAGES);
    cp_async_commit();
    const char* p = smem + s % STAGES * STAGE_BYTES;
#pragma unroll
    for (int k = 0; k < 2; k++) {
      unsigned fa[2][4], fb[2][4];
#pragma unroll
      for (int i = 0; i < 2; i++) ldmatrix_x4(fa[i], p + (wm + i * 16 + fr) * 64 + (((k * 2 + fh) ^ ((fr >> 1) & 3)) << 4));
#pragma unroll
      for (int j = 0; j < 2; j++)
        ldmatrix_x4_trans(fb[j], p + 4096 + (k * 16 + fr) * 128 + ((((wn >> 3) + j * 2 + fh) ^ (fr & 7)) << 4));
#pragma unroll
      for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) mma_m16n8k16(acc[i][j], fa[i], fb[j >> 1][(j & 1) * 2], fb[j >> 1][(j & 1) * 2 + 1]);
    }
  }
#pragma unroll
  for (int i = 0; i < 2; i++)
#pragma unroll
    for (int j = 0; j < 4; j++) {
      const int row = blockIdx.y * 64 + wm + i * 16 + (lane >> 2), col = blockIdx.x * 64 + wn + j * 8 + (lane & 3) * 2;
      *(float2*)(C + row * N + col) = make_float2(acc[i][j][0], acc[i][j][1]);
      *(float2*)(C + (row + 8) * N + col) = make_float2(acc[i][j][2], acc[i][j][3]);
    }
}
