// Y = softmax of X's rows, f32. One block of 128 threads a row: reductions by shuffles, then through shared memory.
extern "C" __global__ void __launch_bounds__(128) softmax(const float* __restrict__ X, float* __restrict__ Y, int columns) {
  __shared__ float parts[2][4];
  const int t = threadIdx.x, lane = t & 31, warp = t >> 5;
  const float* x = X + blockIdx.x * columns;
  float most = -3.0e38f, sum = 0.f;
  for (int i = t; i < columns; i += 128) most = fmaxf(most, x[i]);
  for (int d = 16; d > 0; d >>= 1) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, d));
  if (lane == 0) parts[0][warp] = most;
  __syncthreads();  // of the largest
  most = fmaxf(fmaxf(parts[0][0], parts[0][1]), fmaxf(parts[0][2], parts[0][3]));
  for (int i = t; i < columns; i += 128) sum += expf(x[i] - most);
  for (int d = 16; d > 0; d >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  if (lane == 0) parts[1][warp] = sum;
  __syncthreads();  // of the sum
  sum = parts[1][0] + parts[1][1] + parts[1][2] + parts[1][3];
  for (int i = t; i < columns; i += 128) Y[blockIdx.x * columns + i] = expf(x[i] - most) / sum;
}
