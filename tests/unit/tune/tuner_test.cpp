// The tuning loop with a runner that replays: the latency of a kernel is a number computed from its code.
#include "tunesmith/tune/tuner.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "tunesmith/support/hash.h"
#include "tunesmith/workload/library.h"

namespace tunesmith {
namespace {

namespace fs = std::filesystem;

/// One in `failing` kernels fails, with a cause that its code decides; 0 = none.
class ReplayingRunner final : public Runner {
 public:
  explicit ReplayingRunner(uint64_t failing = 0) : failing_(failing) {}

  std::vector<MeasureResult> run(std::span<const MeasureRequest> requests) override {
    std::vector<MeasureResult> results;
    for (const MeasureRequest& request : requests) {
      ++runs;
      limits.push_back(request.limit_seconds);
      const uint64_t hash = hash_bytes(request.kernel->object);
      MeasureResult result;
      if (failing_ != 0 && hash % failing_ == 0) {
        const FailureCause cause = hash / failing_ % 2 == 0 ? FailureCause::Crash : FailureCause::WrongResult;
        result.failure = CandidateFailure{cause, "replayed"};
      } else {
        result.timing = make_timing({seconds(*request.kernel), 2 * seconds(*request.kernel)});
      }
      results.push_back(std::move(result));
    }
    return results;
  }

  std::vector<InterleavedTimes> interleave(std::span<const CompiledKernel* const> kernels,
                                           const InterleaveOptions& options) override {
    if (kernels.size() > 1) ++rankings;  // one alone is the unscheduled program
    std::vector<InterleavedTimes> times;
    for (const CompiledKernel* kernel : kernels) {
      times.push_back({std::vector<double>(static_cast<size_t>(options.rounds), seconds(*kernel)), 0, {}});
    }
    return times;
  }

  int runs = 0;
  std::vector<double> limits;  // of the candidates, in their order
  int rankings = 0;

 private:
  static double seconds(const CompiledKernel& kernel) {
    return 1e-6 * static_cast<double>(1 + hash_bytes(kernel.object) % 1'000'000);
  }

  uint64_t failing_;
};

class TunerTest : public testing::Test {
 protected:
  TunerTest() {
    std::string name = (fs::temp_directory_path() / "tunesmith-tuner-XXXXXX").string();
    folder_ = mkdtemp(name.data());
    environment_.cpu_model = "Test";
    options_.trials = 48;
    options_.batch = 16;
    options_.seed = 7;
    options_.threads = 2;
  }
  ~TunerTest() override { fs::remove_all(folder_); }

  TuneResult tune_into(const std::string& store_name, Runner& runner, const TuneHooks& hooks = {}) {
    const Workload workload = WorkloadLibrary().load(workload_);
    const SpacesFile spaces = SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml");
    const Space space(spaces.space(space_), registry_);
    RecordStore store(folder_ / store_name);
    return tune(workload, space, store, runner, environment_, options_, hooks);
  }

  std::vector<Record> records(const std::string& store_name) const {
    return RecordStore(folder_ / store_name, RecordStore::Mode::Existing).list();
  }

  /// What was tried, in order, and what became of it; without ids and dates.
  std::vector<std::string> story(const std::string& store_name) const {
    std::vector<std::string> lines;
    for (const Record& record : records(store_name)) {
      lines.push_back(record.trace + hex64(record.lowered_hash.value()) +
                      (record.ok() ? std::to_string(record.timing->min)
                                   : std::string(failure_cause_name(record.failure->cause))));
    }
    return lines;
  }

  PluginRegistry registry_;
  fs::path folder_;
  Environment environment_;
  TuneOptions options_;
  std::string space_ = "cpu-random";
  std::string workload_ = "gmm:n=32,m=48,k=16";
};

class SameSeed : public TunerTest,
                 public testing::WithParamInterface<std::tuple<const char*, const char*>> {};

TEST_P(SameSeed, GivesTheSameCandidatesInTheSameOrderWithOneThreadOrTwo) {
  std::tie(space_, workload_) = GetParam();
  options_.trials = 32;
  options_.threads = 1;
  ReplayingRunner runner(5);
  const TuneResult one = tune_into("one.db", runner);
  options_.threads = 2;
  const TuneResult two = tune_into("two.db", runner);
  ASSERT_EQ(story("one.db").size(), 32u);
  EXPECT_EQ(story("one.db"), story("two.db"));
  EXPECT_EQ(one.best_trace.str(), two.best_trace.str());
  EXPECT_EQ(one.best_seconds, two.best_seconds);
  EXPECT_EQ(one.failures, two.failures);
  EXPECT_EQ(one.refusals, two.refusals);

  options_.seed = 8;
  tune_into("other.db", runner);
  EXPECT_NE(story("one.db"), story("other.db"));
}

INSTANTIATE_TEST_SUITE_P(Spaces, SameSeed,
                         testing::Combine(testing::Values("cpu", "cpu-random", "cpu-paper"),
                                          testing::Values("gmm:n=32,m=48,k=16",
                                                          "conv2d:h=8,w=8,ci=8,co=16,kernel=3")),
                         [](const auto& one) {
                           std::string name =
                               std::string(std::get<0>(one.param)) + "_" + std::get<1>(one.param);
                           name.resize(name.find(':'));
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_F(TunerTest, AFailureIsRecordedUnderItsCauseAndNeverTheBest) {
  ReplayingRunner runner(3);
  const TuneResult result = tune_into("r.db", runner);
  std::map<FailureCause, int64_t> failures;
  double best = 1e9;
  std::string best_id;
  for (const Record& record : records("r.db")) {
    if (record.failure) {
      ++failures[record.failure->cause];
      EXPECT_EQ(record.failure->message, "replayed");
    } else if (record.timing->min < best) {
      best = record.timing->min;
      best_id = record.id;
    }
  }
  EXPECT_GE(failures[FailureCause::Crash], 1);
  EXPECT_GE(failures[FailureCause::WrongResult], 1);
  EXPECT_EQ(result.failures, failures);
  EXPECT_EQ(result.valid, 48 - failures[FailureCause::Crash] - failures[FailureCause::WrongResult]);
  EXPECT_EQ(result.best_id, best_id);
  EXPECT_EQ(result.best_seconds, best);
}

TEST_F(TunerTest, WithNothingValidThereIsNoBest) {
  ReplayingRunner runner(1);
  const TuneResult result = tune_into("r.db", runner);
  EXPECT_EQ(result.best_id, "");
  EXPECT_EQ(result.valid, 0);
  EXPECT_EQ(result.trials, 48);
  EXPECT_EQ(runner.rankings, 0);
}

// Or one that is slower by far takes the whole time-out before any is known to be fast.
TEST_F(TunerTest, TheUnscheduledProgramIsTheLimitOfTheFirstCandidates) {
  ReplayingRunner runner;
  const TuneResult result = tune_into("r.db", runner);
  ASSERT_FALSE(runner.limits.empty());
  EXPECT_GT(result.baseline_seconds, 0.0);
  EXPECT_EQ(runner.limits.front(), result.baseline_seconds);
}

TEST_F(TunerTest, ResumingMeasuresNothingAnewAndGoesOnAsIfUninterrupted) {
  space_ = "cpu";  // what is proposed depends on what was measured
  ReplayingRunner first(5);
  const TuneResult begun = tune_into("r.db", first);
  EXPECT_EQ(first.runs, 48);
  ReplayingRunner again(5);
  const TuneResult repeated = tune_into("r.db", again);
  EXPECT_EQ(again.runs, 0);
  EXPECT_EQ(repeated.resumed, 48);
  EXPECT_EQ(repeated.trials, 48);
  EXPECT_EQ(repeated.best_id, begun.best_id);
  EXPECT_EQ(repeated.failures, begun.failures);

  options_.trials = 80;
  ReplayingRunner more(5);
  const TuneResult longer = tune_into("r.db", more);
  EXPECT_EQ(more.runs, 32);
  EXPECT_EQ(longer.resumed, 48);
  ReplayingRunner whole(5);
  const TuneResult at_once = tune_into("whole.db", whole);
  EXPECT_EQ(story("r.db"), story("whole.db"));
  EXPECT_EQ(longer.best_seconds, at_once.best_seconds);
}

TEST_F(TunerTest, AChangedSpaceOrEnvironmentResumesNothing) {
  ReplayingRunner runner;
  options_.trials = 16;
  tune_into("r.db", runner);
  environment_.cpu_model = "Other";
  EXPECT_EQ(tune_into("r.db", runner).resumed, 0);
  space_ = "cpu-tiling";
  EXPECT_EQ(tune_into("r.db", runner).resumed, 0);
  options_.resume = false;
  EXPECT_EQ(tune_into("r.db", runner).resumed, 0);
  EXPECT_EQ(records("r.db").size(), 64u);
}

TEST_F(TunerTest, ARecordIsInTheStoreBeforeItIsReported) {
  ReplayingRunner runner(5);
  std::set<std::string> reported;
  int64_t trials = 0;
  TuneHooks hooks;
  hooks.recorded = [&](const Record& record) {
    EXPECT_TRUE(RecordStore(folder_ / "r.db").find(record.id).has_value());
    reported.insert(record.id);
  };
  hooks.progress = [&](const TuneProgress& progress) {
    EXPECT_EQ(progress.trials, ++trials);
    EXPECT_GE(reported.size(), static_cast<size_t>(progress.trials));
  };
  tune_into("r.db", runner, hooks);
  EXPECT_EQ(reported.size(), 48u);
  EXPECT_EQ(trials, 48);
}

TEST_F(TunerTest, AStopEndsTheRunWithTheBestSoFar) {
  ReplayingRunner runner;
  std::atomic<bool> stop = false;
  TuneHooks hooks;
  hooks.stop = &stop;
  int reported = 0;
  hooks.recorded = [&](const Record&) { stop = ++reported >= 20; };
  const TuneResult result = tune_into("r.db", runner, hooks);
  EXPECT_TRUE(result.interrupted);
  EXPECT_LT(result.trials, 32);  // the group under way ends, no other begins
  EXPECT_EQ(static_cast<size_t>(result.trials), records("r.db").size());
  EXPECT_EQ(runner.rankings, 0) << "a person waits";
  double best = 1e9;
  for (const Record& record : records("r.db")) best = std::min(best, record.timing->min);
  EXPECT_EQ(result.best_seconds, best);
}

TEST_F(TunerTest, ATimeLimitEndsTheRun) {
  ReplayingRunner runner;
  options_.time_limit_seconds = 1e-9;
  EXPECT_EQ(tune_into("r.db", runner).trials, 0);
}

}  // namespace
}  // namespace tunesmith
