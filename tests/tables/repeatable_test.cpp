// The same seed gives the same candidates, with one thread or two, for every searcher and cost model that is
// built here.
#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "temporary_folder.h"
#include "tunesmith/evaluation/replay.h"
#include "tunesmith/support/error.h"
#include "tunesmith/tuning/tuner.h"

namespace tunesmith {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSpaces = R"(
version: 1
spaces:
  random: {extends: cpu, search: {kind: random}, cost_model: {kind: random}}
  exhaustive: {extends: cpu, search: {kind: exhaustive}, cost_model: {kind: random}}
  evolutionary: {extends: cpu, search: {kind: evolutionary, population: 64}, cost_model: {kind: analytical}}
  annealed: {extends: cpu, search: {kind: evolutionary, population: 64, acceptance: annealed}, cost_model: {kind: analytical}}
  xgboost: {extends: cpu, search: {kind: evolutionary, population: 64}, cost_model: {kind: xgboost}}
  ensemble: {extends: cpu, search: {kind: evolutionary, population: 64}, cost_model: {kind: ensemble}}
  bayesian_trees: {extends: cpu, search: {kind: bayesian, surrogate: trees}, cost_model: {kind: analytical}}
  bayesian_gp: {extends: cpu, search: {kind: bayesian, surrogate: gp}, cost_model: {kind: analytical}}
  bayesian_score: {extends: cpu, search: {kind: bayesian, surrogate: score}, cost_model: {kind: analytical}}
  droplet: {extends: cpu, search: {chain: [{evolutionary: {population: 64, trials: 48}}, droplet]}, cost_model: {kind: analytical}}
  language: {extends: cpu, search: {kind: language}, cost_model: {kind: analytical}}
  portfolio: {extends: cpu, search: {kind: portfolio}, cost_model: {kind: analytical}}
)";

/// The smallest table there is.
const Table& table() {
  static const Table smallest = [] {
    std::vector<fs::path> files;
    for (const auto& entry : fs::directory_iterator(TUNESMITH_SOURCE_DIR "/bench/tables")) {
      if (entry.path().extension() == ".gz") files.push_back(entry.path());
    }
    return load_table(
        *std::ranges::min_element(files, {}, [](const fs::path& file) { return fs::file_size(file); }));
  }();
  return smallest;
}

class Repeatable : public testing::TestWithParam<const char*> {
 protected:
  /// The candidates' hashes in the order in which they were measured.
  std::vector<uint64_t> search(const Space& space, uint64_t seed, size_t threads) {
    TableRunner runner(table());
    RecordStore store(folder_ / std::to_string(searches_++));
    TuneOptions options;
    options.trials = 96;
    options.batch = 32;
    options.seed = seed;
    options.threads = threads;
    std::vector<uint64_t> candidates;
    TuneHooks hooks;
    hooks.refuse = [&](const Candidate& candidate) { return runner.refuse(candidate); };
    hooks.recorded = [&](const Record& record) {
      if (record.kind == MeasurementKind::Search) candidates.push_back(record.lowered_hash);
    };
    tune(workload_of(table()), space, store, runner, table().environment, options, hooks);
    return candidates;
  }

  PluginRegistry registry_;
  test::TemporaryFolder folder_;
  int searches_ = 0;
};

TEST_P(Repeatable, TheSameSeedGivesTheSameCandidates) {
  const SpaceSpec spec = table_space(table(), SpacesFile::parse(kSpaces, "test.yaml").space(GetParam()));
  std::unique_ptr<Space> space;
  try {
    space = std::make_unique<Space>(spec, registry_, make_table_target(table()));
    for (size_t stage = 0; stage < spec.search.size(); ++stage) space->create_searcher(stage);
    space->create_cost_model();
  } catch (const Error& error) {
    // A plugin or option that was not built names the package that it needs.
    if (std::string(error.what()).find("-dev") == std::string::npos) throw;
    GTEST_SKIP() << "not built here: " << error.what();
  }
  const std::vector<uint64_t> one = search(*space, 5, 1);
  EXPECT_GT(one.size(), 64U);  // of 96: droplet ends where no neighbour is faster
  EXPECT_EQ(std::set<uint64_t>(one.begin(), one.end()).size(), one.size()) << "a program was measured twice";
  EXPECT_EQ(one, search(*space, 5, 2)) << "with two threads";
  EXPECT_EQ(one, search(*space, 5, 1)) << "again";
  if (std::string(GetParam()) != "exhaustive") {
    EXPECT_NE(one, search(*space, 6, 1)) << "of another seed";
  }
}

INSTANTIATE_TEST_SUITE_P(Strategies, Repeatable,
                         testing::Values("random", "exhaustive", "evolutionary", "annealed", "xgboost",
                                         "ensemble", "bayesian_trees", "bayesian_gp", "bayesian_score",
                                         "droplet", "language", "portfolio"),
                         [](const auto& strategy) { return std::string(strategy.param); });

}  // namespace
}  // namespace tunesmith
