// The cost of calling an instruction through the table of the stable interface instead of directly. Both
// annotate a block repeatedly, which is nearly free. Run with --benchmark_repetitions=10
// --benchmark_enable_random_interleaving=true and compare the medians.
#include <benchmark/benchmark.h>

#include "api/handles.h"
#include "api/host.h"
#include "tunesmith/workload/library.h"
#include "tunesmith/workload/workload.h"

namespace {

using namespace tunesmith;

constexpr int kCalls = 256;  // on one schedule, whose trace grows with each

Schedule fresh() {
  static const Workload workload = WorkloadLibrary().load("gmm");
  return Schedule(workload.program, RandomStream(1));
}

void Direct(benchmark::State& state) {
  for (auto _ : state) {
    state.PauseTiming();
    Schedule schedule = fresh();
    const BlockRV block = schedule.get_block("C");
    state.ResumeTiming();
    for (int i = 0; i < kCalls; ++i) benchmark::DoNotOptimize(schedule.get_loops(block));
  }
  state.SetItemsProcessed(state.iterations() * kCalls);
}

void ThroughTheTable(benchmark::State& state) {
  const auto& table =
      *static_cast<const tunesmith_schedule_table*>(api::k_host.table(api::text("tunesmith.schedule/1")));
  const tunesmith_kind* get_loops = table.kind(api::text("get_loops"));
  for (auto _ : state) {
    state.PauseTiming();
    tunesmith_schedule schedule(fresh());
    const BlockRV block = schedule.schedule.get_block("C");
    state.ResumeTiming();
    for (int i = 0; i < kCalls; ++i) {
      tunesmith_value value = {TUNESMITH_TAG_VARIABLE, 0, {}};
      value.as.integer = block.index;
      tunesmith_variables results = {};
      benchmark::DoNotOptimize(table.call(&schedule, get_loops, &value, 1, &results));
    }
  }
  state.SetItemsProcessed(state.iterations() * kCalls);
}

BENCHMARK(Direct);
BENCHMARK(ThroughTheTable);

}  // namespace

BENCHMARK_MAIN();
