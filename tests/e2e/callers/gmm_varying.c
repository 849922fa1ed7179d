/* One library for N of PARAM_LOWEST to PARAM_HIGHEST. */
#include "check.h"
#include "gmm.h"

enum { M = PARAM_M, K = PARAM_K };

static int call(float* a, float* b, float* c, int64_t rows, int64_t rows_of_c) {
  const DLDevice cpu = {kDLCPU, 0};
  const DLDataType f32 = {kDLFloat, 32, 1};
  int64_t shape_a[] = {1, rows, K}, shape_b[] = {1, K, M}, shape_c[] = {1, rows_of_c, M};
  DLTensor A = {a, cpu, 3, f32, shape_a, NULL, 0}, B = {b, cpu, 3, f32, shape_b, NULL, 0},
           C = {c, cpu, 3, f32, shape_c, NULL, 0};
  return gmm(&A, &B, &C);
}

int main(void) {
  for (int rows = PARAM_LOWEST; rows <= PARAM_HIGHEST; ++rows) {
    float *a = make_input(0, rows * K), *b = make_input(1, K * M), *c = make_input(2, rows * M);
    if (call(a, b, c, rows, rows) != gmm_OK) return 1;
    for (int i = 0; i < rows; ++i) {
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
    int64_t extents[] = {rows};
    void* buffers[] = {a, b, c, extents};
    if (gmm_raw(buffers) != gmm_OK) return 2;
    if (call(a, b, c, rows, rows + 1) != gmm_WRONG_SHAPE + 256 * 2) return 3;
  }
  float* none = make_input(0, 1);
  if (call(none, none, none, PARAM_LOWEST - 1, PARAM_LOWEST - 1) != gmm_WRONG_SHAPE) return 4;
  if (call(none, none, none, PARAM_HIGHEST + 1, PARAM_HIGHEST + 1) != gmm_WRONG_SHAPE) return 5;
  return 0;
}
