// The cost of starting a loop on the threads of a kernel's pool after idle gaps of some microseconds.
#include <chrono>

#include <benchmark/benchmark.h>

#include "tunesmith/runtime/pool.h"

namespace {

void hand_over(benchmark::State& state) {
  tunesmith_runtime_pool* pool = tunesmith_runtime_pool_create(0);
  const auto gap = std::chrono::microseconds(state.range(0));
  int64_t sums[64] = {};
  for (auto unused : state) {
    const auto idle_until = std::chrono::steady_clock::now() + gap;
    while (std::chrono::steady_clock::now() < idle_until) continue;
    const auto begin = std::chrono::steady_clock::now();
    tunesmith_runtime_parallel_for(
        pool, tunesmith_runtime_pool_threads(pool),
        [](void* closure, int64_t first, int64_t) { static_cast<int64_t*>(closure)[first * 8 % 64]++; },
        sums);
    state.SetIterationTime(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  benchmark::DoNotOptimize(sums);
  tunesmith_runtime_pool_destroy(pool);
}
BENCHMARK(hand_over)->ArgName("idle_us")->Args({0})->Args({20})->Args({200})->UseManualTime()->Iterations(
    2000);
BENCHMARK(hand_over)->ArgName("idle_us")->Args({5000})->UseManualTime()->Iterations(100);

}  // namespace

BENCHMARK_MAIN();
