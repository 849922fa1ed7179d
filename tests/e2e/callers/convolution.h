/* A convolution, channels last, as the library's reference. */
enum {
  H = PARAM_H,
  W = PARAM_W,
  CI = PARAM_CI,
  CO = PARAM_CO,
  KERNEL = PARAM_KERNEL,
  STRIDE = PARAM_STRIDE,
  PADDING = PARAM_PADDING,
  DILATION = PARAM_DILATION,
  GROUPS = PARAM_GROUPS,
  OH = (H + 2 * PADDING - (KERNEL - 1) * DILATION - 1) / STRIDE + 1,
  OW = (W + 2 * PADDING - (KERNEL - 1) * DILATION - 1) / STRIDE + 1,
  CIG = CI / GROUPS, /* input channels of a group */
  COG = CO / GROUPS
};

static inline double convolve(const float* x, const float* w, int oy, int ox, int f, double* magnitude) {
  double sum = 0.0;
  *magnitude = 0.0;
  for (int ky = 0; ky < KERNEL; ++ky) {
    for (int kx = 0; kx < KERNEL; ++kx) {
      const int iy = oy * STRIDE + ky * DILATION - PADDING;
      const int ix = ox * STRIDE + kx * DILATION - PADDING;
      if (iy < 0 || ix < 0 || iy >= H || ix >= W) continue;
      for (int c = 0; c < CIG; ++c) {
        const double product =
            (double)x[(iy * W + ix) * CI + f / COG * CIG + c] * w[((ky * KERNEL + kx) * CIG + c) * CO + f];
        sum += product;
        *magnitude += fabs(product);
      }
    }
  }
  return sum;
}
