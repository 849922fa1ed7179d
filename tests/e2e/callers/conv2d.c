#include "conv2d.h"

#include "check.h"
#include "convolution.h"

int main(void) {
  float *x = make_input(0, H * W * CI), *w = make_input(1, KERNEL * KERNEL * CIG * CO);
  float* o = make_input(2, OH * OW * CO);
  void* buffers[] = {x, w, o, NULL};
  if (PREPARE(conv2d, buffers, 3) != 0 || conv2d_raw(buffers) != 0) return 1;
  for (int at = 0; at < OH * OW * CO; ++at) {
    double magnitude;
    const double wanted = convolve(x, w, at / CO / OW, at / CO % OW, at % CO, &magnitude);
    check(o, at, wanted, magnitude);
  }
  return 0;
}
