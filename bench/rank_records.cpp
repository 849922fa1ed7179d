// How well a space's cost model orders the candidates of recorded runs, after learning from the first LEARN.
// Usage: bench_rank_records WORKLOAD SPACE DATABASE [--learn LEARN] [--recorded SPACE] [--list]
//   --recorded   the space in which they were found, if not SPACE
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <tunesmith/plugin/registry.h>
#include <tunesmith/records/record_store.h>
#include <tunesmith/search/cost_model.h>
#include <tunesmith/search/score_quality.h>
#include <tunesmith/space/space.h>
#include <tunesmith/space/spaces_file.h>
#include <tunesmith/workload/library.h>

namespace {

using namespace tunesmith;

struct Evaluated {
  std::string id;
  double seconds = 0.0;
  double score = 0.0;
};

std::vector<Evaluated> evaluate(const std::string& key, const std::string& space_name,
                                const std::string& database, const std::string& recorded, size_t learn) {
  const Workload workload = WorkloadLibrary().load(key);
  PluginRegistry registry;
  const Space space(SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml").space(space_name), registry);
  RecordFilter filter;
  filter.workload = workload.key;
  filter.space = recorded;
  filter.kind = MeasurementKind::Search;
  filter.ok = true;
  std::vector<Evaluated> evaluated;
  std::vector<Measured> programs;
  RecordStore(database, RecordStore::Mode::Read).for_each(filter, [&](const Record& record) {
    auto candidate = space.materialise(workload.program, Trace::parse(record.trace), RandomStream(0));
    if (!candidate) return;
    evaluated.push_back({record.id, record.timing->min, 0.0});
    programs.push_back({std::move(*candidate), record.timing, std::nullopt});
  });
  const std::shared_ptr<CostModel> model = space.create_cost_model();
  model->begin(workload, space.device());
  learn = std::min(learn, evaluated.size());
  std::vector<CandidatePtr> candidates;
  for (const Measured& program : programs) candidates.push_back(program.candidate);
  const auto begin = std::chrono::steady_clock::now();
  if (learn > 0) model->update(std::span(programs).first(learn));
  const auto learned = std::chrono::steady_clock::now();
  const std::vector<double> scores = model->predict(candidates);
  const auto end = std::chrono::steady_clock::now();
  using Seconds = std::chrono::duration<double>;
  fmt::print("learned from {} in {:.3f} s, {} scores in {:.3f} s\n", learn, Seconds(learned - begin).count(),
             scores.size(), Seconds(end - learned).count());
  for (size_t i = 0; i < evaluated.size(); ++i) evaluated[i].score = scores[i];
  evaluated.erase(evaluated.begin(), evaluated.begin() + static_cast<std::ptrdiff_t>(learn));
  return evaluated;
}

/// The share among pairs whose times differ by at least a tenth.
double share_in_order(const std::vector<Evaluated>& evaluated) {
  std::vector<double> scores;
  std::vector<double> throughputs;
  for (const Evaluated& one : evaluated) {
    scores.push_back(one.score);
    throughputs.push_back(1.0 / one.seconds);
  }
  return pairs_in_order(scores, throughputs, 1.1);
}

}  // namespace

int main(int argc, char** argv) {
  bool list = false;
  size_t learn = 0;
  std::string recorded = argc > 2 ? argv[2] : "";
  bool understood = argc >= 4;
  for (int i = 4; i < argc && understood; ++i) {
    const std::string_view option = argv[i];
    if (option == "--list") {
      list = true;
    } else if (option == "--learn" && i + 1 < argc) {
      learn = std::stoul(argv[++i]);
    } else if (option == "--recorded" && i + 1 < argc) {
      recorded = argv[++i];
    } else {
      understood = false;
    }
  }
  if (!understood) {
    fmt::print(
        stderr,
        "usage: bench_rank_records WORKLOAD SPACE DATABASE [--learn LEARN] [--recorded SPACE] [--list]\n");
    return 2;
  }
  std::vector<Evaluated> evaluated = evaluate(argv[1], argv[2], argv[3], recorded, learn);
  if (evaluated.empty()) {
    fmt::print(stderr, "{} has no record of {} in space {}\n", argv[3], argv[1], recorded);
    return 3;
  }
  fmt::print("{} records, {:.1f} % of the pairs in order\n", evaluated.size(),
             100 * share_in_order(evaluated));
  const auto faster = [](const Evaluated& a, const Evaluated& b) { return a.seconds < b.seconds; };
  const double best = std::min_element(evaluated.begin(), evaluated.end(), faster)->seconds;
  std::stable_sort(evaluated.begin(), evaluated.end(),
                   [](const Evaluated& a, const Evaluated& b) { return a.score > b.score; });
  for (const size_t first : {1UL, 8UL, 32UL, 64UL, 128UL}) {
    if (first > evaluated.size()) break;
    const auto end = evaluated.begin() + static_cast<std::ptrdiff_t>(first);
    fmt::print("best of the first {}: {:.2f} times the least time\n", first,
               std::min_element(evaluated.begin(), end, faster)->seconds / best);
  }
  if (!list) return 0;
  for (const Evaluated& one : evaluated) fmt::print("{} {:.6g} {:.4f}\n", one.id, one.seconds, one.score);
}
