// The processor time that one thread needs to compile the candidates of a recorded run. Usage:
// bench_compile_records WORKLOAD SPACE DATABASE [ROUNDS]
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <vector>

#include <fmt/format.h>

#include <tunesmith/plugin/registry.h>
#include <tunesmith/records/record_store.h>
#include <tunesmith/space/space.h>
#include <tunesmith/space/spaces_file.h>
#include <tunesmith/workload/library.h>

namespace {

using namespace tunesmith;

double thread_milliseconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

void compile_all(const std::string& key, const std::string& space_name, const std::string& database,
                 int rounds) {
  const Workload workload = WorkloadLibrary().load(key);
  PluginRegistry registry;
  const Space space(SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml").space(space_name), registry);
  struct Cost {
    double milliseconds = 1e9;
    size_t object_bytes = 0;
    std::string id;
  };
  std::vector<Cost> costs;
  const RecordStore store(database, RecordStore::Mode::Read);
  RecordFilter filter;
  filter.workload = workload.key;
  filter.space = space_name;
  for (const Record& record : store.list(filter)) {
    const auto candidate =
        space.materialise(workload.program, Trace::parse(record.trace), RandomStream(0, 0));
    if (!candidate) continue;
    Cost cost;
    for (int round = 0; round < rounds; ++round) {
      const double begin = thread_milliseconds();
      const auto kernel = space.target().compile((*candidate)->lowered, "kernel");
      cost.milliseconds = std::min(cost.milliseconds, thread_milliseconds() - begin);
      if (kernel) cost.object_bytes = kernel->object.size();
    }
    cost.id = record.id;
    costs.push_back(cost);
  }
  std::sort(costs.begin(), costs.end(),
            [](const Cost& a, const Cost& b) { return a.milliseconds < b.milliseconds; });
  for (const double quantile : {0.1, 0.25, 0.5, 0.75, 0.9, 1.0}) {
    if (costs.empty()) break;
    const Cost& cost =
        costs[std::min(costs.size() - 1, static_cast<size_t>(quantile * static_cast<double>(costs.size())))];
    fmt::print("{:3.0f} % of {} compile in {:.1f} ms ({} bytes of object; record {})\n", 100 * quantile,
               costs.size(), cost.milliseconds, cost.object_bytes, cost.id);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4 || argc > 5) {
    fmt::print(stderr, "usage: bench_compile_records WORKLOAD SPACE DATABASE [ROUNDS]\n");
    return 2;
  }
  compile_all(argv[1], argv[2], argv[3], argc > 4 ? std::atoi(argv[4]) : 1);
}
