// C[M,N] (f32) = A[M,K] B[K,N] in f16, row-major; M % 32 == N % 32 == K % 16 == 0. Grid (N / 32, M / 32), 128 threads: 4
// warps of one 16 x 16 tile. sm_75: the simple form of a matrix unit, whose fragments are opaque.
#include "tunesmith_device.cuh"
extern "C" __global__ void __launch_bounds__(128)
    wmma(const half_t* __restrict__ A, const half_t* __restrict__ B, float* __restrict__ C, int M, int N, int K) {
  __shared__ __align__(32) half_t as[32][24];  // rows are padded, against bank conflicts
  __shared__ __align__(32) half_t bs[16][40];
  const int t = threadIdx.x, warp = t >> 5, row0 = blockIdx.y * 32, col0 = blockIdx.x * 32;
  const int wm = (warp >> 1) * 16, wn = (warp & 1) * 16;
  float acc[8];
#pragma unroll
  for (int e = 0; e < 8; e++) acc[e] = 0.f;
  for (int k0 = 0; k0 < K; k0 += 16) {
#pragma unroll
    for (int i = 0; i < 4; i++) {
      as[t >> 2][(t & 3) * 4 + i] = A[(row0 + (t >> 2)) * K + k0 + (t & 3) * 4 + i];
      bs[t >> 3][(t & 7) * 4 + i] = B[(k0 + (t >> 3)) * N + col0 + (t & 7) * 4 + i];
    }
    __syncthreads();  // written
    unsigned fa[8], fb[8];
    wmma_load_a<0>(fa, &as[wm][0], 24);
    wmma_load_b<0>(fb, &bs[0][wn], 40);
    wmma_mma<0, 0>(acc, fa, fb);
    __syncthreads();  // read
  }
  wmma_store<0>(C + (row0 + wm) * N + col0 + wn, acc, N);
}
