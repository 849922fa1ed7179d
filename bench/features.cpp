// Rows of features per second on one core, for lowered programs from the default space.
#include <benchmark/benchmark.h>

#include <tunesmith/performance/features.h>
#include <tunesmith/plugin/registry.h>
#include <tunesmith/space/space.h>
#include <tunesmith/space/spaces_file.h>
#include <tunesmith/workload/library.h>

namespace {

using namespace tunesmith;

void extract(benchmark::State& state, const char* key) {
  const Workload workload = WorkloadLibrary().load(key);
  PluginRegistry registry;
  const Space space(SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml").space("cpu"), registry);
  const SketchSet set = space.generate(workload.program);
  std::vector<CandidatePtr> candidates;
  for (uint64_t draw = 0; candidates.size() < 64 && draw < 1000; ++draw) {
    const Trace open = set.sketches[draw % set.sketches.size()].trace().with_open_decisions();
    if (auto candidate = space.materialise(workload.program, open, RandomStream(0, draw)))
      candidates.push_back(std::move(*candidate));
  }
  size_t rows = 0;
  size_t next = 0;
  for (auto _ : state) {
    const Program& program = candidates[next++ % candidates.size()]->lowered.program;
    rows += extract_features(program, space.device()).rows();
  }
  state.counters["rows_per_second"] =
      benchmark::Counter(static_cast<double>(rows), benchmark::Counter::kIsRate);
}
BENCHMARK_CAPTURE(extract, gmm, "gmm:n=512,m=512,k=512");
BENCHMARK_CAPTURE(extract, conv2d, "conv2d:h=14,w=14,ci=256,co=256");
BENCHMARK_CAPTURE(extract, softmax, "softmax:m=1024,n=1024");

}  // namespace

BENCHMARK_MAIN();
