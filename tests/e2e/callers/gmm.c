#include "gmm.h"

#include "check.h"

enum { N = PARAM_N, M = PARAM_M, K = PARAM_K };

int main(void) {
  float *a = make_input(0, N * K), *b = make_input(1, K * M), *c = make_input(2, N * M);
  void* buffers[] = {a, b, c};
  if (gmm_raw(buffers) != 0) return 1;
  for (int i = 0; i < N; ++i) {
    for (int j = 0; j < M; ++j) {
      double sum = 0.0, magnitude = 0.0;
      for (int k = 0; k < K; ++k) {
        const double product = (double)a[i * K + k] * b[k * M + j];
        sum += product;
        magnitude += fabs(product);
      }
      check(c, i * M + j, sum, magnitude);
    }
  }
  return 0;
}
