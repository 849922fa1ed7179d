// The whole loop: order, failures, stops.
#include <algorithm>
#include <set>
#include <tuple>

#include "unit/tuning/tuner_fixture.h"

namespace tunesmith {
namespace {

constexpr const char* kProduct = "gmm:n=32,m=48,k=16";
constexpr const char* kConvolution = "conv2d:h=8,w=8,ci=8,co=16,kernel=3";

class SameSeed : public TunerTest,
                 public testing::WithParamInterface<std::tuple<const char*, const char*>> {};

TEST_P(SameSeed, GivesTheSameCandidatesInTheSameOrderWithOneThreadOrTwo) {
  std::tie(space_, workload_) = GetParam();
  options_.trials = 16;
  options_.threads = 1;
  ReplayingRunner runner(5);
  const TuneResult one = tune_into("one.db", runner);
  options_.threads = 2;
  const TuneResult two = tune_into("two.db", runner);
  ASSERT_EQ(story("one.db").size(), 16u);
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
                         testing::Values(std::tuple("cpu", kProduct), std::tuple("cpu", kConvolution),
                                         std::tuple("cpu-random", kConvolution),
                                         std::tuple("cpu-paper", kProduct)),
                         [](const auto& one) {
                           std::string name =
                               std::string(std::get<0>(one.param)) + "_" + std::get<1>(one.param);
                           name.resize(name.find(':'));
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_F(TunerTest, ARunEndsWhereLittleIsExpectedOfAFurtherRound) {
  options_.trials = 64;
  options_.batch = 16;
  ReplayingRunner runner;
  EXPECT_EQ(tune_into("all.db", runner).ended_because, "trials");
  options_.min_gain = 0.9;
  const TuneResult little = tune_into("little.db", runner);
  EXPECT_EQ(little.trials, 16) << "a round, and no more";
  EXPECT_EQ(little.ended_because, "expected gain");
}

TEST_F(TunerTest, AFailureIsRecordedUnderItsCauseAndNeverTheBest) {
  ReplayingRunner runner(3);
  const TuneResult result = tune_into("r.db", runner);
  std::map<FailureCause, int64_t> failures;
  double best = 1e9;
  std::string best_trace;
  for (const Record& record : records("r.db")) {
    if (record.failure) {
      ++failures[record.failure->cause];
      EXPECT_EQ(record.failure->message, "replayed");
    } else if (record.timing->min < best) {
      best = record.timing->min;
      best_trace = record.trace;
    }
  }
  EXPECT_GE(failures[FailureCause::Crash], 1);
  EXPECT_GE(failures[FailureCause::WrongResult], 1);
  EXPECT_EQ(result.failures, failures);
  EXPECT_EQ(result.valid, 24 - failures[FailureCause::Crash] - failures[FailureCause::WrongResult]);
  EXPECT_EQ(result.best_trace.str(), best_trace);
  EXPECT_EQ(result.best_seconds, best);
}

TEST_F(TunerTest, WithNothingValidThereIsNoBest) {
  ReplayingRunner runner(1);
  const TuneResult result = tune_into("r.db", runner);
  EXPECT_EQ(result.best_id, "");
  EXPECT_EQ(result.valid, 0);
  EXPECT_EQ(result.trials, 24);
  EXPECT_EQ(runner.rankings, 0);
}

// Otherwise, a far slower program takes the whole time-out before any is known to be fast.
TEST_F(TunerTest, TheUnscheduledProgramIsTheLimitOfTheFirstCandidates) {
  ReplayingRunner runner;
  const TuneResult result = tune_into("r.db", runner);
  ASSERT_GT(runner.limits.size(), size_t{kPlainForms});
  EXPECT_GT(result.baseline_seconds, 0.0);
  EXPECT_EQ(runner.limits[0], runner.limits[1]) << "the plain forms are measured first";
  EXPECT_LE(runner.limits[kPlainForms], result.baseline_seconds);
}

TEST_F(TunerTest, ResumingMeasuresNothingAnewAndGoesOnAsIfUninterrupted) {
  space_ = "cpu";  // its proposals depend on measurements
  ReplayingRunner first(5);
  const TuneResult begun = tune_into("r.db", first);
  EXPECT_EQ(first.runs, 24);
  ReplayingRunner again(5);
  const TuneResult repeated = tune_into("r.db", again);
  EXPECT_EQ(again.runs, 0);
  EXPECT_EQ(repeated.resumed, 24);
  EXPECT_EQ(repeated.trials, 24);
  EXPECT_EQ(repeated.best_trace, begun.best_trace);
  EXPECT_EQ(repeated.failures, begun.failures);

  options_.trials = 40;
  ReplayingRunner more(5);
  const TuneResult longer = tune_into("r.db", more);
  EXPECT_EQ(more.runs, 16);
  EXPECT_EQ(longer.resumed, 24);
  ReplayingRunner whole(5);
  const TuneResult at_once = tune_into("whole.db", whole);
  EXPECT_EQ(story("r.db"), story("whole.db"));
  EXPECT_EQ(longer.best_seconds, at_once.best_seconds);
}

TEST_F(TunerTest, ARecordIsInTheStoreBeforeItIsReported) {
  ReplayingRunner runner(5);
  std::set<std::string> reported;
  int64_t trials = 0;
  TuneHooks hooks;
  hooks.recorded = [&](const Record& record) {
    EXPECT_TRUE(RecordStore(folder_ / "r.db").find(record.id).has_value());
    if (record.kind == MeasurementKind::Search) reported.insert(record.id);
  };
  hooks.progress = [&](const TuneProgress& progress) {
    EXPECT_EQ(progress.trials, ++trials);
    EXPECT_GE(reported.size(), static_cast<size_t>(progress.trials));
  };
  tune_into("r.db", runner, hooks);
  EXPECT_EQ(reported.size(), 24u);
  EXPECT_EQ(trials, 24);
}

TEST_F(TunerTest, AStopEndsTheRunWithTheBestSoFar) {
  ReplayingRunner runner;
  std::atomic<bool> stop = false;
  TuneHooks hooks;
  hooks.stop = &stop;
  int reported = 0;
  hooks.recorded = [&](const Record&) { stop = ++reported >= 10; };
  const TuneResult result = tune_into("r.db", runner, hooks);
  EXPECT_TRUE(result.interrupted);
  EXPECT_LT(result.trials, 20);  // the group under way ends, no other begins
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
