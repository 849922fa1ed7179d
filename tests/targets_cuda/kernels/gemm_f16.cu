// What hgemm.cu, wmma.cu and wgmma.cu compute, for tunesmith-cuda-check --reference.
#include "tunesmith_device.cuh"
extern "C" void reference(const half_t* A, const half_t* B, float* C, int M, int N, int K) {
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      float sum = 0;
      for (int k = 0; k < K; k++) sum += f16_to_f32(A[i * K + k]) * f16_to_f32(B[k * N + j]);
      C[i * N + j] = sum;
    }
}
