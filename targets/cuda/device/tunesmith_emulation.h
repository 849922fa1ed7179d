// CUDA C++ on the host, as far as generated kernels use the language. Included before the kernel's text when
// this is compiled for the emulation; calls go to its runtime. Unsupported features do not compile, rather
// than compile to something else.
//
// Blocks run one after the other on one host thread. Shared variables become thread-local, since these may be
// declared in a block without `static`, and lie in one segment, which the checker watches.
#pragma once

#include "emulation_abi.h"

#define __global__
#define __device__
#define __host__
#define __constant__ static const
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __grid_constant__
#define __align__(n) __attribute__((aligned(n)))
#define __shared__ thread_local

#define threadIdx (*tunesmith_emulation::thread_index)
#define blockIdx (tunesmith_emulation::block_index)
#define blockDim (tunesmith_emulation::block_shape)
#define gridDim (tunesmith_emulation::grid_shape)
#define warpSize 32

using dim3 = tunesmith_emulation::Index;
using half_t = unsigned short;

#define TUNESMITH_VECTOR(type, name)                                          \
  struct __align__(2 * sizeof(type)) name##2 { type x, y; };                  \
  struct name##3 { type x, y, z; };                                           \
  struct __align__(4 * sizeof(type)) name##4 { type x, y, z, w; };            \
  inline name##2 make_##name##2(type x, type y) { return {x, y}; }            \
  inline name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; } \
  inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
TUNESMITH_VECTOR(float, float)
TUNESMITH_VECTOR(int, int)
TUNESMITH_VECTOR(unsigned, uint)
TUNESMITH_VECTOR(short, short)
TUNESMITH_VECTOR(unsigned short, ushort)
TUNESMITH_VECTOR(signed char, char)
TUNESMITH_VECTOR(unsigned char, uchar)
#undef TUNESMITH_VECTOR
struct __align__(16) double2 {
  double x, y;
};
inline double2 make_double2(double x, double y) { return {x, y}; }
struct __align__(16) longlong2 {
  long long x, y;
};
inline longlong2 make_longlong2(long long x, long long y) { return {x, y}; }
struct __align__(16) ulonglong2 {
  unsigned long long x, y;
};
inline ulonglong2 make_ulonglong2(unsigned long long x, unsigned long long y) { return {x, y}; }

// The variable's address tells this barrier from others on the same line and in other instances of a
// template.
#define __syncthreads()                                            \
  do {                                                             \
    static const char tunesmith_site = 0;                          \
    tunesmith_emulation::block_barrier(&tunesmith_site, __LINE__); \
  } while (0)

inline void __syncwarp(unsigned mask = ~0u, int line = __builtin_LINE()) {
  tunesmith_emulation::warp_barrier(mask, line);
}
template <int number, int threads>
inline void group_barrier(int line = __builtin_LINE()) {
  tunesmith_emulation::group_barrier(number, threads, line);
}
inline void __threadfence() { tunesmith_emulation::memory_fence(); }
inline void __threadfence_block() {}

namespace tunesmith_emulation {
template <class T>
inline T shuffle_value(unsigned mask, T value, Shuffle kind, int operand, int width, int line) {
  static_assert(sizeof(T) <= 8, "a shuffle moves at most 8 bytes");
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &value, sizeof(T));
  bits = shuffle(mask, bits, kind, operand, width, line);
  __builtin_memcpy(&value, &bits, sizeof(T));
  return value;
}
}  // namespace tunesmith_emulation
template <class T>
inline T __shfl_sync(unsigned mask, T value, int lane, int width = 32, int line = __builtin_LINE()) {
  return tunesmith_emulation::shuffle_value(mask, value, tunesmith_emulation::Shuffle::Index, lane, width,
                                            line);
}
template <class T>
inline T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32, int line = __builtin_LINE()) {
  return tunesmith_emulation::shuffle_value(mask, value, tunesmith_emulation::Shuffle::Up, int(delta), width,
                                            line);
}
template <class T>
inline T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32,
                          int line = __builtin_LINE()) {
  return tunesmith_emulation::shuffle_value(mask, value, tunesmith_emulation::Shuffle::Down, int(delta),
                                            width, line);
}
template <class T>
inline T __shfl_xor_sync(unsigned mask, T value, int lanes, int width = 32, int line = __builtin_LINE()) {
  return tunesmith_emulation::shuffle_value(mask, value, tunesmith_emulation::Shuffle::Xor, lanes, width,
                                            line);
}
inline unsigned __ballot_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  return tunesmith_emulation::vote(mask, predicate != 0, line);
}
inline int __any_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  return tunesmith_emulation::vote(mask, predicate != 0, line) != 0;
}
inline int __all_sync(unsigned mask, int predicate, int line = __builtin_LINE()) {
  return tunesmith_emulation::vote(mask, predicate == 0, line) == 0;
}

template <class T>
inline T __ldg(const T* from, int line = __builtin_LINE()) {
  tunesmith_emulation::read_by_read_only_path(from, sizeof(T), line);
  return *from;
}

inline float atomicAdd(float* to, float value) { return tunesmith_emulation::atomic_add(to, value); }
inline int atomicAdd(int* to, int value) { return tunesmith_emulation::atomic_add(to, value); }
inline unsigned atomicAdd(unsigned* to, unsigned value) { return tunesmith_emulation::atomic_add(to, value); }
inline int atomicMax(int* to, int value) { return tunesmith_emulation::atomic_max(to, value); }
inline int atomicMin(int* to, int value) { return tunesmith_emulation::atomic_min(to, value); }
inline unsigned atomicExch(unsigned* to, unsigned value) {
  return tunesmith_emulation::atomic_exchange(to, value);
}
inline unsigned atomicCAS(unsigned* to, unsigned expected, unsigned value) {
  return tunesmith_emulation::atomic_compare_and_swap(to, expected, value);
}

#include "emulation_hopper.h"
#include "emulation_math.h"
#include "emulation_matrix.h"
#include "kernel_launcher.h"
