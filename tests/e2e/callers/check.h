/* What every caller needs: inputs, and the comparison of an output with the caller's own result. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The k-th input's elements, in [-1, 1). */
static inline float* make_input(int k, int elements) {
  float* data = malloc(sizeof(float) * (size_t)elements);
  for (int i = 0; i < elements; ++i) data[i] = (float)(((i + 31 * k) * 7919 + 13) % 201 - 100) / 100.0f;
  return data;
}

/* `magnitude`: the sum of the absolute values that were summed up. */
static inline void check(const float* output, int at, double wanted, double magnitude) {
  if (fabs(wanted - output[at]) <= 1e-4 * (1.0 + magnitude)) return;
  printf("element %d is %g, wanted %g\n", at, output[at], wanted);
  exit(2);
}
