#include "softmax.h"

#include "check.h"

enum { M = PARAM_M, N = PARAM_N };

int main(void) {
  float *x = make_input(0, M * N), *o = make_input(1, M * N);
  void* buffers[] = {x, o};
  if (softmax_raw(buffers) != 0) return 1;
  for (int i = 0; i < M; ++i) {
    double sum = 0.0;
    for (int j = 0; j < N; ++j) sum += exp((double)x[i * N + j]);
    for (int j = 0; j < N; ++j) check(o, i * N + j, exp((double)x[i * N + j]) / sum, 0.0);
  }
  return 0;
}
