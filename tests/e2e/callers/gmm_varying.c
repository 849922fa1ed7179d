/* One library for rows, or terms of the sums, of PARAM_LOWEST to PARAM_HIGHEST. */
#include "check.h"
#include "gmm.h"

enum { M = PARAM_M };
#ifdef PARAM_N
static int rows_at(int value) { return value > 0 ? PARAM_N : 0; }
static int terms_at(int value) { return value; }
#else
static int rows_at(int value) { return value; }
static int terms_at(int value) { return value > 0 ? PARAM_K : 0; }
#endif

static int call(float* a, float* b, float* c, int value, int more_of_c) {
  const DLDevice cpu = {kDLCPU, 0};
  const DLDataType f32 = {kDLFloat, 32, 1};
  const int64_t rows = rows_at(value), terms = terms_at(value);
  int64_t shape_a[] = {1, rows, terms}, shape_b[] = {1, terms, M}, shape_c[] = {1, rows + more_of_c, M};
  DLTensor A = {a, cpu, 3, f32, shape_a, NULL, 0}, B = {b, cpu, 3, f32, shape_b, NULL, 0},
           C = {c, cpu, 3, f32, shape_c, NULL, 0};
  return gmm(&A, &B, &C);
}

int main(void) {
  for (int value = PARAM_LOWEST; value <= PARAM_HIGHEST; ++value) {
    const int rows = rows_at(value), terms = terms_at(value);
    float *a = make_input(0, rows * terms), *b = make_input(1, terms * M), *c = make_input(2, rows * M);
    if (call(a, b, c, value, 0) != gmm_OK) return 1;
    for (int i = 0; i < rows; ++i) {
      for (int j = 0; j < M; ++j) {
        double sum = 0.0, magnitude = 0.0;
        for (int k = 0; k < terms; ++k) {
          const double product = (double)a[i * terms + k] * b[k * M + j];
          sum += product;
          magnitude += fabs(product);
        }
        check(c, i * M + j, sum, magnitude);
      }
    }
    int64_t extents[] = {value};
    void* buffers[] = {a, b, c, extents};
    if (gmm_raw(buffers) != gmm_OK) return 2;
    if (call(a, b, c, value, 1) != gmm_WRONG_SHAPE + 256 * 2) return 3;
  }
  float* none = make_input(0, 1);
  if (call(none, none, none, PARAM_LOWEST - 1, 0) != gmm_WRONG_SHAPE) return 4;
  if (call(none, none, none, PARAM_HIGHEST + 1, 0) != gmm_WRONG_SHAPE) return 5;
  return 0;
}
