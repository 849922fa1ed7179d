// The cost of compiling one kernel, and the code's share of the machine's
// peak: register tiles of f32 matrix products, with B packed in panels.
#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <memory>

#include <benchmark/benchmark.h>

#include "targets_llvm/lowered_program.h"
#include "tunesmith/measuring/peak.h"
#include "tunesmith/runtime/pool.h"

namespace {

using tunesmith::kF32;
using tunesmith::LoweredProgram;
using tunesmith::llvm_target::LlvmTarget;

LlvmTarget& target() {
  static const auto instance = std::make_unique<LlvmTarget>(
      tunesmith::Options::defaults(tunesmith::llvm_target::TargetOptions::specs(), "target 'llvm'"));
  return *instance;
}

double seconds_of(const tunesmith::LoadedKernel& kernel, void* const* buffers) {
  double best = 1e9;
  const auto started = std::chrono::steady_clock::now();
  const auto since = [](auto t) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - t).count();
  };
  while (since(started) < 0.3) {
    const auto begin = std::chrono::steady_clock::now();
    kernel.entry()(buffers, nullptr, tunesmith_runtime_parallel_for, nullptr);
    best = std::min(best, since(begin));
  }
  return best;
}

/// Aligned to cache lines, like the measuring worker's buffers.
struct Matrix {
  explicit Matrix(int64_t size) {
    const auto elements = static_cast<size_t>(size * size);
    data.reset(static_cast<float*>(std::aligned_alloc(64, elements * sizeof(float))));
    std::fill_n(data.get(), elements, 0.5F);
  }
  std::unique_ptr<float, decltype(&std::free)> data{nullptr, std::free};
};

/// Arguments: size of the square matrices, rows of the tile, vectors in a row of the tile.
void tile(benchmark::State& state) {
  const int64_t lanes = target().lower_options().vector_bits / 32;
  const int64_t size = state.range(0), rows = state.range(1), columns = state.range(2) * lanes;
  const LoweredProgram lowered =
      tunesmith::testing::gmm_tile_program(size / rows * rows, size, size, rows, columns, lanes);
  tunesmith::CompiledKernel compiled;
  for (auto unused : state) compiled = target().compile(lowered, "kernel").value();

  const Matrix a(size), b(size), c(size);
  void* const buffers[] = {a.data.get(), b.data.get(), c.data.get()};
  const auto kernel = target().load(compiled);
  const double work = 2.0 * static_cast<double>(size / rows * rows * size * size);
  const double rate = work / seconds_of(*kernel, buffers);
  static const double peak = measure_peak(target(), kF32, 1);
  state.counters["GFLOPs"] = rate * 1e-9;
  state.counters["peak_GFLOPs"] = peak * 1e-9;
  state.counters["percent_of_peak"] = 100.0 * rate / peak;
}
BENCHMARK(tile)
    ->ArgNames({"size", "rows", "vectors"})
    ->Args({128, 8, 2})
    ->Args({512, 8, 2})
    ->Args({512, 4, 4})
    ->Args({512, 6, 4})
    ->Args({512, 12, 2})
    ->Args({1024, 8, 2})
    ->Unit(benchmark::kMillisecond);

void load_and_unload(benchmark::State& state) {
  const int64_t lanes = target().lower_options().vector_bits / 32;
  const auto compiled =
      target().compile(tunesmith::testing::gmm_tile_program(8, 2 * lanes, 8, 8, 2 * lanes, lanes), "kernel");
  for (auto unused : state) benchmark::DoNotOptimize(target().load(*compiled)->entry());
}
BENCHMARK(load_and_unload)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
