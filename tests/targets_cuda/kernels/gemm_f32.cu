// What sgemm.cu computes, for tunesmith-cuda-check --reference.
extern "C" void reference(const float* A, const float* B, float* C, int M, int N, int K) {
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      double sum = 0;
      for (int k = 0; k < K; k++) sum += double(A[i * K + k]) * double(B[k * N + j]);
      C[i * N + j] = float(sum);
    }
}
