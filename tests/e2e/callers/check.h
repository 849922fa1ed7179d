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

/* A library that prepares constant inputs takes what it has prepared as the last of the buffers. */
#ifdef PREPARED
#define PREPARE(name, buffers, last) \
  ((buffers)[last] = aligned_alloc(64, name##_prepared_bytes()), name##_prepare_raw(buffers))
#else
#define PREPARE(name, buffers, last) 0
#endif

/* `magnitude`: the sum of the absolute values that were summed up. */
static inline void check(const float* output, int at, double wanted, double magnitude) {
  if (fabs(wanted - output[at]) <= 1e-4 * (1.0 + magnitude)) return;
  printf("element %d is %g, wanted %g\n", at, output[at], wanted);
  exit(2);
}
