// C[M,N] = A[M,K] B[K,N] in f32, row-major, of any sizes. Grid (N / 64, M / 64) rounded up, 256 threads, 16896 bytes of
// dynamic shared memory. A thread computes 4 x 4; shared memory is double, so that a step needs one barrier.
#define TILE 64
#define DEPTH 16
extern "C" __global__ void __launch_bounds__(256)
    sgemm(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N, int K) {
  extern __shared__ __align__(128) char smem[];
  float(*as)[DEPTH][TILE + 4] = (float(*)[DEPTH][TILE + 4])smem;     // transposed
  float(*bs)[DEPTH][TILE] = (float(*)[DEPTH][TILE])(smem + 8704);
  const int t = threadIdx.x, row0 = blockIdx.y * TILE, col0 = blockIdx.x * TILE;
  const int tx = (t & 15) * 4, ty = (t >> 4) * 4;
  const int ar = t >> 2, ak = (t & 3) * 4;
  const int bk = t >> 4, bc = (t & 15) * 4;
  const int steps = (K + DEPTH - 1) / DEPTH;
  float acc[4][4], a_next[4], b_next[4];
#pragma unroll
  for (int i = 0; i < 4; i++)
#pragma unroll
    for (int j = 0; j < 4; j++) acc[i][j] = 0.f;
  auto fetch = [&](int k0) {
#pragma unroll
    for (int i = 0; i < 4; i++) {
      a_next[i] = row0 + ar < M && k0 + ak + i < K ? A[(row0 + ar) * K + k0 + ak + i] : 0.f;
      b_next[i] = k0 + bk < K && col0 + bc + i < N ? B[(k0 + bk) * N + col0 + bc + i] : 0.f;
    }
  };
  auto stage = [&](int s) {
#pragma unroll
    for (int i = 0; i < 4; i++) {
      as[s][ak + i][ar] = a_next[i];
      bs[s][bk][bc + i] = b_next[i];
    }
  };
  fetch(0);
  stage(0);
  __syncthreads();  // first
  for (int s = 0; s < steps; s++) {
    const int cur = s & 1, nxt = cur ^ 1;
    if (s + 1 < steps) fetch((s + 1) * DEPTH);
#pragma unroll
    for (int k = 0; k < DEPTH; k++) {
      const float4 a = *(const float4*)&as[cur][k][ty], b = *(const float4*)&bs[cur][k][tx];
      const float av[4] = {a.x, a.y, a.z, a.w}, bv[4] = {b.x, b.y, b.z, b.w};
#pragma unroll
      for (int i = 0; i < 4; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) acc[i][j] += av[i] * bv[j];
    }
    if (s + 1 < steps) stage(nxt);
    __syncthreads();  // loop
  }
#pragma unroll
  for (int i = 0; i < 4; i++)
#pragma unroll
    for (int j = 0; j < 4; j++)
      if (row0 + ty + i < M && col0 + tx + j < N) C[(row0 + ty + i) * N + col0 + tx + j] = acc[i][j];
}
