#include "tunesmith/evaluation/comparison.h"

#include <limits>

#include <gtest/gtest.h>

namespace tunesmith {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// Eight trials of a second each.
SearchRun run_of(const std::string& strategy, uint64_t seed, std::vector<ProgressPoint> improvements) {
  SearchRun run;
  run.workload = "w";
  run.strategy = strategy;
  run.seed = seed;
  run.final_seconds = improvements.empty() ? kNever : improvements.back().seconds;
  run.improvements = std::move(improvements);
  run.trials = 8;
  run.wall_seconds = 8.0;
  run.search_seconds = 2.0;
  return run;
}

/// Computed by hand: the best known takes 95 us, so 100 us is 95 % of its speed.
class ComparisonTest : public testing::Test {
 protected:
  ComparisonTest() {
    runs_.push_back(run_of("base", 0, {{1, 1.0, 400.0}, {4, 4.0, 200.0}}));
    runs_.push_back(run_of("base", 1, {{2, 2.0, 300.0}, {8, 8.0, 100.0}}));
    runs_.push_back(run_of("base", 2, {{1, 1.0, 200.0}}));
    runs_.push_back(run_of("good", 0, {{1, 1.0, 200.0}, {2, 2.0, 100.0}}));
    runs_.push_back(run_of("good", 1, {{3, 3.0, 100.0}, {5, 5.0, 95.0}}));
    runs_.push_back(run_of("good", 2, {{6, 6.0, 100.0}}));
  }

  Comparison compare() const { return compare_runs(runs_, {"base", "good"}, {{"w", 95.0}}); }

  std::vector<SearchRun> runs_;
};

TEST_F(ComparisonTest, CountsTrials) {
  EXPECT_EQ(trials_to(runs_[0], 400.0), 1);
  EXPECT_EQ(trials_to(runs_[0], 399.0), 4);
  EXPECT_EQ(trials_to(runs_[0], 199.0), std::nullopt);
}

TEST_F(ComparisonTest, GivesTheFiguresOfAHandComputedCase) {
  const Comparison comparison = compare();
  ASSERT_EQ(comparison.workloads.size(), 1U);
  ASSERT_EQ(comparison.workloads[0].strategies.size(), 2U);
  const StrategySummary& base = comparison.workloads[0].strategies[0];
  const StrategySummary& good = comparison.workloads[0].strategies[1];

  EXPECT_DOUBLE_EQ(base.final_seconds.low, 150.0);
  EXPECT_DOUBLE_EQ(base.final_seconds.median, 200.0);
  EXPECT_DOUBLE_EQ(good.final_seconds.median, 100.0);
  EXPECT_DOUBLE_EQ(good.over_baseline, 2.0);

  EXPECT_EQ(base.to_95.runs, 1U);
  EXPECT_EQ(base.to_95.trials.median, kNever);
  EXPECT_EQ(good.to_95.runs, 3U);
  EXPECT_DOUBLE_EQ(good.to_95.trials.median, 3.0);
  EXPECT_DOUBLE_EQ(good.to_95.trials.low, 2.5);
  EXPECT_EQ(good.to_99.runs, 1U);
  EXPECT_DOUBLE_EQ(base.to_baseline.trials.median, 4.0);  // after 4, 8 and 1
  EXPECT_DOUBLE_EQ(good.to_baseline.trials.median, 3.0);  // after 1, 3 and 6

  ASSERT_EQ(good.by_trials.size(), 5U);  // after 1, 2, 3, 4 and 8
  EXPECT_EQ(good.by_trials[0].best.median, kNever);
  EXPECT_DOUBLE_EQ(good.by_trials[3].at, 4.0);
  EXPECT_DOUBLE_EQ(good.by_trials[4].best.median, 100.0);
  ASSERT_EQ(base.by_wall.size(), 16U);
  EXPECT_DOUBLE_EQ(base.by_wall[3].at, 2.0);
  EXPECT_DOUBLE_EQ(base.by_wall[3].best.median, 300.0);  // 400, 300, 200
  EXPECT_DOUBLE_EQ(base.search_share, 0.25);

  ASSERT_EQ(comparison.overall.size(), 2U);
  const OverallSummary& overall = comparison.overall[1];
  EXPECT_DOUBLE_EQ(overall.speed, 2.0);
  EXPECT_DOUBLE_EQ(overall.trials_to_95, 3.0 / 8.0);  // the baseline does not reach it in its 8 trials
  EXPECT_TRUE(overall.trials_to_95_bound);
  EXPECT_DOUBLE_EQ(overall.trials_to_baseline, 3.0 / 8.0);
  EXPECT_FALSE(overall.trials_to_baseline_bound);
  ASSERT_EQ(overall.by_trials.size(), 5U);
  EXPECT_EQ(overall.by_trials[0].share, 0.0) << "in two of three searches nothing worked";
  EXPECT_DOUBLE_EQ(overall.by_trials[2].at, 3.0);
  EXPECT_DOUBLE_EQ(overall.by_trials[2].share, 0.95);
  // Three pairs, all of them faster: one choice of signs in eight on each side.
  EXPECT_EQ(overall.final_test.pairs, 3U);
  EXPECT_DOUBLE_EQ(overall.final_test.p_value, 0.25);
  EXPECT_EQ(comparison.overall[0].final_test.pairs, 0U);
}

TEST_F(ComparisonTest, WithoutATableTheBestFoundIsTheBestKnown) {
  EXPECT_DOUBLE_EQ(compare_runs(runs_, {"base", "good"}).workloads[0].best_known, 95.0);
}

TEST_F(ComparisonTest, LeavesOutWhatWasNotFinished) {
  runs_.erase(runs_.begin() + 4);  // good's seed 1
  const Comparison comparison = compare();
  EXPECT_EQ(comparison.workloads[0].strategies[1].runs, 2U);
  EXPECT_EQ(comparison.overall[1].final_test.pairs, 2U);
  EXPECT_TRUE(compare_runs({}, {"base", "good"}).workloads.empty());
}

TEST_F(ComparisonTest, AveragesModelsOverRounds) {
  runs_[3].model_batches = {{0, 16, 0.5, 0.9, 0.2}, {16, 16, 0.7, 1.0, 0.1}};
  runs_[4].model_batches = {{0, 16, 0.3, 0.8, 0.3}};
  runs_[5].model_dropped = "its ranking was worse than chance in three successive rounds";
  const StrategySummary good = compare().workloads[0].strategies[1];
  EXPECT_NEAR(good.rank_correlation.value(), 0.5, 1e-12);
  EXPECT_NEAR(good.best_of_eighth.value(), 0.9, 1e-12);
  EXPECT_NEAR(good.rmse.value(), 0.2, 1e-12);
  EXPECT_EQ(good.models_dropped, 1U);
  EXPECT_FALSE(compare().workloads[0].strategies[0].rmse.has_value());
}

TEST_F(ComparisonTest, HasLatencyAndTheErrorOfTheSearchersOwnModel) {
  runs_[3].own_batches = {{0, 16, 0.5, 0.9, 0.2}, {16, 16, 0.7, 1.0, 0.1}};
  runs_[4].own_batches = {{0, 16, 0.3, 0.8, 0.6}};
  const Comparison comparison = compare();
  const StrategySummary& good = comparison.workloads[0].strategies[1];
  EXPECT_NEAR(good.own_rmse.value(), 0.3, 1e-12);
  EXPECT_FALSE(good.rmse.has_value()) << "of the cost model nothing is known";
  EXPECT_FALSE(comparison.workloads[0].strategies[0].own_rmse.has_value());
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_DOUBLE_EQ(comparison.overall[i].latency,
                     comparison.workloads[0].strategies[i].final_seconds.median);
  }
}

TEST_F(ComparisonTest, NothingThatWorkedIsNever) {
  for (size_t i = 3; i < 6; ++i) runs_[i] = run_of("good", i - 3, {});
  const Comparison comparison = compare();
  EXPECT_EQ(comparison.workloads[0].strategies[1].final_seconds.median, kNever);
  EXPECT_EQ(comparison.workloads[0].strategies[1].to_95.runs, 0U);
}

}  // namespace
}  // namespace tunesmith
