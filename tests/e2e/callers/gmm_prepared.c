/* Two sets of weights share the library; the unpacked ones are gone when it is called. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gmm.h"

enum { N = PARAM_N, M = PARAM_M, K = PARAM_K };

static float a[N * K], b[2][K * M], c[2][N * M];
static int64_t a_shape[] = {1, N, K}, b_shape[] = {1, K, M}, c_shape[] = {1, N, M};
static void* packed[2];
static DLTensor tensor(void* data, int64_t* shape) {
  DLTensor t = {data, {kDLCPU, 0}, 3, {kDLFloat, 32, 1}, shape, NULL, 0};
  return t;
}
static void* call(void* which) {
  const int w = *(int*)which;
  DLTensor A = tensor(a, a_shape), C = tensor(c[w], c_shape);
  return gmm(&A, NULL, &C, packed[w]) == gmm_OK ? NULL : which;
}
#define EXPECT(condition) \
  if (!(condition)) {     \
    puts(#condition);     \
    return 1;             \
  }
int main(void) {
  for (int i = 0; i < N * K; ++i) a[i] = (float)(i % 7 - 3);
  float* copy = malloc(sizeof b);
  DLTensor A = tensor(a, a_shape), C = tensor(c[0], c_shape);
  for (int w = 0; w < 2; ++w) {
    for (int i = 0; i < K * M; ++i) copy[w * K * M + i] = b[w][i] = (float)((i * 7919 + 13 * w) % 11 - 5);
    DLTensor B = tensor(b[w], b_shape);
    EXPECT(gmm_prepared_bytes() % 64 == 0 && gmm_prepared_bytes() >= K * M * 4)
    packed[w] = aligned_alloc(64, gmm_prepared_bytes());
    memset(packed[w], 0xff, gmm_prepared_bytes());
    EXPECT(gmm(&A, &B, &C, packed[w]) == gmm_NOT_PREPARED + 256 * 3)
    EXPECT(gmm_prepare(&B, NULL) == gmm_NULL_ARGUMENT + 256)
    EXPECT(gmm_prepare(&B, (char*)packed[w] + 4) == gmm_MISALIGNED + 256)
    EXPECT(gmm_prepare(NULL, packed[w]) == gmm_NULL_ARGUMENT)
    EXPECT(gmm_prepare(&B, packed[w]) == gmm_OK)
  }
  memset(b, 0xff, sizeof b);
  EXPECT(gmm(&A, NULL, &C, NULL) == gmm_NULL_ARGUMENT + 256 * 3)
  pthread_t threads[2];
  int which[2] = {0, 1};
  for (int w = 0; w < 2; ++w) pthread_create(&threads[w], NULL, call, &which[w]);
  for (int w = 0; w < 2; ++w) {
    void* failed;
    pthread_join(threads[w], &failed);
    EXPECT(failed == NULL)
  }
  for (int w = 0; w < 2; ++w)
    for (int i = 0; i < N; ++i)
      for (int j = 0; j < M; ++j) {
        double wanted = 0;
        for (int k = 0; k < K; ++k) wanted += a[i * K + k] * copy[w * K * M + k * M + j];
        EXPECT(fabs(c[w][i * M + j] - wanted) < 1e-3)
      }
  /* Prepares and calls again through plain pointers. */
  void* again = aligned_alloc(64, gmm_prepared_bytes());
  void* preparing[] = {NULL, copy, NULL, again};
  EXPECT(gmm_prepare_raw(preparing) == gmm_OK)
  float result[N * M];
  void* calling[] = {a, NULL, result, again};
  EXPECT(gmm_raw(calling) == gmm_OK && memcmp(result, c[0], sizeof result) == 0)
  return 0;
}
