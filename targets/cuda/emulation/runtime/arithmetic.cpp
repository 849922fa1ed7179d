#include "arithmetic.h"

#include <cstring>

#include "../../device/float16.h"

#if defined(__x86_64__)
#define TUNESMITH_FOR_EACH_PROCESSOR [[gnu::target_clones("arch=skylake-avx512", "arch=haswell", "default")]]
#else
#define TUNESMITH_FOR_EACH_PROCESSOR
#endif

namespace tunesmith_emulation {
namespace {

constexpr unsigned kColumnsAtOnce = 8, kRowsAtOnce = 4;

// Inlined into each per-processor version of its caller.
template <class Value>
[[gnu::always_inline]] inline void multiply_add_vectors(Value* c, const Value* a, const Value* b,
                                                        unsigned rows, unsigned depth, unsigned columns) {
  using Vector [[gnu::vector_size(sizeof(Value) * kColumnsAtOnce)]] = Value;
  for (unsigned j = 0; j < columns; j += kColumnsAtOnce) {
    for (unsigned i = 0; i < rows; i += kRowsAtOnce) {
      Vector sums[kRowsAtOnce];
      for (unsigned r = 0; r < kRowsAtOnce; ++r)
        std::memcpy(&sums[r], c + (i + r) * columns + j, sizeof(Vector));
      for (unsigned k = 0; k < depth; ++k) {
        Vector factors;
        std::memcpy(&factors, b + k * columns + j, sizeof(Vector));
        for (unsigned r = 0; r < kRowsAtOnce; ++r) sums[r] += a[(i + r) * depth + k] * factors;
      }
      for (unsigned r = 0; r < kRowsAtOnce; ++r)
        std::memcpy(c + (i + r) * columns + j, &sums[r], sizeof(Vector));
    }
  }
}

}  // namespace

TUNESMITH_FOR_EACH_PROCESSOR void f16_values(const void* from, float* to, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    uint16_t half;
    std::memcpy(&half, static_cast<const char*>(from) + 2 * size_t(i), 2);
    to[i] = f16_to_f32(half);
  }
}

TUNESMITH_FOR_EACH_PROCESSOR void bf16_values(const void* from, float* to, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    uint16_t half;
    std::memcpy(&half, static_cast<const char*>(from) + 2 * size_t(i), 2);
    to[i] = bf16_to_f32(half);
  }
}

void tf32_values(const void* from, float* to, unsigned count) {
  for (unsigned i = 0; i < count; ++i) {
    uint32_t word;
    std::memcpy(&word, static_cast<const char*>(from) + 4 * size_t(i), 4);
    to[i] = __builtin_bit_cast(float, word & 0xffffe000u);
  }
}

void s8_values(const void* from, int* to, unsigned count) {
  for (unsigned i = 0; i < count; ++i) to[i] = int{static_cast<const signed char*>(from)[i]};
}

TUNESMITH_FOR_EACH_PROCESSOR void multiply_add(float* c, const float* a, const float* b, unsigned rows,
                                               unsigned depth, unsigned columns) {
  multiply_add_vectors<float>(c, a, b, rows, depth, columns);
}

TUNESMITH_FOR_EACH_PROCESSOR void multiply_add(int* c, const int* a, const int* b, unsigned rows,
                                               unsigned depth, unsigned columns) {
  multiply_add_vectors<int>(c, a, b, rows, depth, columns);
}

}  // namespace tunesmith_emulation
