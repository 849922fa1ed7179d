// CUDA's built-in arithmetic functions, by the C library's (declared here: including its headers would take
// longer than compiling the kernel's text).
#pragma once

extern "C" {
float sqrtf(float) noexcept;
float expf(float) noexcept;
float exp2f(float) noexcept;
float logf(float) noexcept;
float log2f(float) noexcept;
float powf(float, float) noexcept;
float sinf(float) noexcept;
float cosf(float) noexcept;
float tanhf(float) noexcept;
float erff(float) noexcept;
float fmaf(float, float, float) noexcept;
float fabsf(float) noexcept;
float floorf(float) noexcept;
float ceilf(float) noexcept;
float rintf(float) noexcept;
float truncf(float) noexcept;
float fmaxf(float, float) noexcept;
float fminf(float, float) noexcept;
double sqrt(double) noexcept;
double exp(double) noexcept;
double log(double) noexcept;
double pow(double, double) noexcept;
double sin(double) noexcept;
double cos(double) noexcept;
double tanh(double) noexcept;
double erf(double) noexcept;
double fma(double, double, double) noexcept;
double fabs(double) noexcept;
double fmax(double, double) noexcept;
double fmin(double, double) noexcept;
double floor(double) noexcept;
double ceil(double) noexcept;
double rint(double) noexcept;
}

inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
inline float __expf(float x) { return expf(x); }
inline float __logf(float x) { return logf(x); }
inline float __powf(float x, float y) { return powf(x, y); }
inline float __fdividef(float x, float y) { return x / y; }
inline float __frcp_rn(float x) { return 1.0f / x; }
inline float __fmul_rn(float x, float y) { return x * y; }
inline float __fadd_rn(float x, float y) { return x + y; }

// To 11 significant bits, ties away from zero, as cvt.rna.tf32 does; of f64 what f32 would have.
inline float round_tf32(float x) {
  const unsigned bits = __builtin_bit_cast(unsigned, x);
  return x != x ? x : __builtin_bit_cast(float, (bits + 0x1000u) & 0xffffe000u);
}
inline double round_tf32(double x) {
  const unsigned long long bits = __builtin_bit_cast(unsigned long long, x), half = 1ull << 41;
  return x != x ? x : __builtin_bit_cast(double, (bits + half) & ~(2 * half - 1));
}

inline int min(int a, int b) { return a < b ? a : b; }
inline int max(int a, int b) { return a > b ? a : b; }
inline unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
inline unsigned max(unsigned a, unsigned b) { return a > b ? a : b; }
inline float min(float a, float b) { return fminf(a, b); }
inline float max(float a, float b) { return fmaxf(a, b); }

inline int __float_as_int(float x) { return __builtin_bit_cast(int, x); }
inline unsigned __float_as_uint(float x) { return __builtin_bit_cast(unsigned, x); }
inline float __int_as_float(int x) { return __builtin_bit_cast(float, x); }
inline float __uint_as_float(unsigned x) { return __builtin_bit_cast(float, x); }
inline int __float2int_rn(float x) { return int(rintf(x)); }
inline int __float2int_rz(float x) { return int(x); }
inline float __int2float_rn(int x) { return float(x); }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(unsigned(x)); }
inline int __ffs(int x) { return __builtin_ffs(x); }
