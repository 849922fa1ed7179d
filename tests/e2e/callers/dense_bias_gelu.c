#include "dense_bias_gelu.h"

#include "check.h"

enum { N = PARAM_N, M = PARAM_M, K = PARAM_K };

int main(void) {
  float *x = make_input(0, N * K), *w = make_input(1, K * M), *bias = make_input(2, M),
        *o = make_input(3, N * M);
  void* buffers[] = {x, w, bias, o, NULL};
  if (PREPARE(dense_bias_gelu, buffers, 4) != 0 || dense_bias_gelu_raw(buffers) != 0) return 1;
  for (int i = 0; i < N; ++i) {
    for (int j = 0; j < M; ++j) {
      double sum = bias[j], magnitude = fabs(bias[j]);
      for (int k = 0; k < K; ++k) {
        const double product = (double)x[i * K + k] * w[k * M + j];
        sum += product;
        magnitude += fabs(product);
      }
      check(o, i * M + j, sum * 0.5 * (1.0 + erf(sum * sqrt(0.5))), magnitude);
    }
  }
  return 0;
}
