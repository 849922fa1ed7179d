// The cost of one candidate before compiling: clone, replay and lower a tiled matrix
// product, through the real space. Goal: 2,000 per second on one core, with constant memory.
#include <fstream>
#include <string>

#include <benchmark/benchmark.h>
#include <unistd.h>

#include <tunesmith/plugin/registry.h>
#include <tunesmith/space/space.h>
#include <tunesmith/space/spaces_file.h>
#include <tunesmith/workload/library.h>

namespace {

using namespace tunesmith;

double resident_megabytes() {
  std::ifstream statm("/proc/self/statm");
  double total = 0;
  double resident = 0;
  statm >> total >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1 << 20);
}

struct Fixture {
  Workload workload = WorkloadLibrary().load("gmm:n=512,m=512,k=512");
  PluginRegistry registry;
  Space space{SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml").space("cpu-tiling"), registry};
  SketchSet set = space.generate(workload.program);
};

/// Sketch 1 caches the result at the first level. Only sketches that copy operands have more instructions.
void clone_replay_lower(benchmark::State& state) {
  const Fixture fixture;
  const Trace open = fixture.set.sketches.at(1).trace().with_open_decisions();
  const LowerOptions options = fixture.space.target().lower_options();
  uint64_t index = 0;
  const auto once = [&] {
    const auto schedule = replay(fixture.workload.program, open, RandomStream(1, index++ % 64));
    benchmark::DoNotOptimize(lower(schedule->program(), options));
  };
  for (int i = 0; i < 1000; ++i) once();
  const double before = resident_megabytes();
  for (auto _ : state) once();
  state.counters["grown_MiB"] = resident_megabytes() - before;
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(clone_replay_lower)->Iterations(10000);

/// The same with finishing modules and the program's hash: all that happens between searcher and compiler.
void materialise(benchmark::State& state) {
  const Fixture fixture;
  const Trace open = fixture.set.sketches.at(1).trace().with_open_decisions();
  uint64_t index = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        fixture.space.materialise(fixture.workload.program, open, RandomStream(1, index++ % 64)));
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(materialise)->Iterations(4000);

}  // namespace

BENCHMARK_MAIN();
