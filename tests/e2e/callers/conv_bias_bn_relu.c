#include "conv_bias_bn_relu.h"

#include "check.h"
#include "convolution.h"

int main(void) {
  float *x = make_input(0, H * W * CI), *w = make_input(1, KERNEL * KERNEL * CIG * CO);
  float *bias = make_input(2, CO), *scale = make_input(3, CO), *offset = make_input(4, CO);
  float* o = make_input(5, OH * OW * CO);
  void* buffers[] = {x, w, bias, scale, offset, o, NULL};
  if (PREPARE(conv_bias_bn_relu, buffers, 6) != 0 || conv_bias_bn_relu_raw(buffers) != 0) return 1;
  for (int at = 0; at < OH * OW * CO; ++at) {
    const int f = at % CO;
    double magnitude;
    const double sum = convolve(x, w, at / CO / OW, at / CO % OW, f, &magnitude);
    check(o, at, fmax(0.0, (sum + bias[f]) * scale[f] + offset[f]), magnitude + 2.0);
  }
  return 0;
}
