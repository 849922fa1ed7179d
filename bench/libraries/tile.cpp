// The peak of a register tile in a single loop: 6 x 64 sums, operands in the first-level cache.
#include "problem.h"

#if defined(__x86_64__)
#include <immintrin.h>

#include "tunesmith/runtime/pool.h"
#endif

namespace tunesmith::bench {

#if defined(__x86_64__)
namespace {

enum class Kind { Float, Bfloat, Byte };

constexpr int kRows = 6, kVectors = 4, kSteps = 64;
/// An element of `a` holds a row's operands for one step: one f32, a pair of bf16, or four bytes.
struct Operands {
  int32_t a[kRows][kSteps];
  __m512i b[kSteps * kVectors];
  __m512i sums[kRows * kVectors];
};

#define TUNESMITH_TARGET __attribute__((target("avx512f,avx512vnni,avx512bf16")))

template <Kind kind>
TUNESMITH_TARGET inline __m512i step(__m512i sum, __m512i a, __m512i b) {
  if constexpr (kind == Kind::Byte) return _mm512_dpbusd_epi32(sum, a, b);
  if constexpr (kind == Kind::Bfloat) {
    return _mm512_castps_si512(_mm512_dpbf16_ps(_mm512_castsi512_ps(sum), reinterpret_cast<__m512bh>(a),
                                                reinterpret_cast<__m512bh>(b)));
  }
  return _mm512_castps_si512(
      _mm512_fmadd_ps(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b), _mm512_castsi512_ps(sum)));
}

/// Runs all steps `panels` times.
template <Kind kind>
TUNESMITH_TARGET __attribute__((noinline)) void run_tile(Operands& operands, int64_t panels) {
  __m512i sums[kRows][kVectors];
#pragma GCC unroll 6
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sums[i][v] = _mm512_setzero_si512();
  }
  for (int64_t panel = 0; panel < panels; ++panel) {
#pragma GCC unroll 4
    for (size_t k = 0; k < kSteps; ++k) {
      __m512i b[kVectors];
#pragma GCC unroll 4
      for (size_t v = 0; v < kVectors; ++v) b[v] = operands.b[k * kVectors + v];
#pragma GCC unroll 6
      for (size_t i = 0; i < kRows; ++i) {
        const __m512i a = _mm512_set1_epi32(operands.a[i][k]);
#pragma GCC unroll 4
        for (size_t v = 0; v < kVectors; ++v) sums[i][v] = step<kind>(sums[i][v], a, b[v]);
      }
    }
  }
#pragma GCC unroll 6
  for (size_t i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (size_t v = 0; v < kVectors; ++v) operands.sums[i * kVectors + v] = sums[i][v];
  }
}

#undef TUNESMITH_TARGET

using Run = void (*)(Operands&, int64_t);

/// Null if the processor lacks the instruction.
Run kernel_of(DType type, int& products) {
  if (!__builtin_cpu_supports("avx512f")) return nullptr;
  products = 1;
  if (type == kF32) return run_tile<Kind::Float>;
  products = 2;
  if (type == kBF16 && __builtin_cpu_supports("avx512bf16")) return run_tile<Kind::Bfloat>;
  products = 4;
  return type == kU8 && __builtin_cpu_supports("avx512vnni") ? run_tile<Kind::Byte> : nullptr;
}

}  // namespace

std::vector<Contestant> tile(const Problem& problem, int threads) {
  int products = 0;
  const Run kernel = kernel_of(problem.workload().program.inputs[0]->dtype, products);
  if (kernel == nullptr) return {};
  const double each = 2.0 * products * 16 * kRows * kVectors * kSteps;
  const auto panels = static_cast<int64_t>(problem.workload().flops / each / threads + 1);
  const std::shared_ptr<tunesmith_runtime_pool> pool(tunesmith_runtime_pool_create(threads),
                                                     tunesmith_runtime_pool_destroy);
  struct Work {
    Run kernel;
    int64_t panels;
    Memory memory;
    Operands* operands() const { return static_cast<Operands*>(memory.get()); }
  };
  const auto work =
      std::make_shared<Work>(Work{kernel, panels, aligned(threads * static_cast<int64_t>(sizeof(Operands)))});
  const auto body = [](void* closure, int64_t begin, int64_t end) {
    const Work& mine = *static_cast<Work*>(closure);
    for (int64_t i = begin; i < end; ++i) mine.kernel(mine.operands()[i], mine.panels);
  };
  return {{"tile", [=] { tunesmith_runtime_parallel_for(pool.get(), threads, body, work.get()); }, {}}};
}
#else
std::vector<Contestant> tile(const Problem& /*problem*/, int /*threads*/) { return {}; }
#endif

}  // namespace tunesmith::bench
