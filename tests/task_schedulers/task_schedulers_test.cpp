#include <algorithm>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "synthetic_tasks.h"

namespace tunesmith::test {
namespace {

using testing::ElementsAre;

int64_t rounds_of(const SyntheticRun& run, size_t task) {
  return std::count(run.chosen.begin(), run.chosen.end(), task);
}

TEST(RoundRobin, GivesAllAsManyRounds) {
  PluginRegistry registry;
  const auto scheduler = make_scheduler(registry, "round_robin");
  SyntheticRun run({{falling(1, 0.1, 50)}, {falling(9, 0.1, 50)}, {}}, TuningGoal::TotalTime);
  run.go_on(*scheduler, 7);
  EXPECT_THAT(run.chosen, ElementsAre(0, 1, 2, 0, 1, 2, 0));
  run.histories[1].done = true;
  run.go_on(*scheduler, 3);
  EXPECT_EQ(rounds_of(run, 1), 2);
}

TEST(GreedyTime, SearchesWhereMostTimeIsSpent) {
  PluginRegistry registry;
  const auto scheduler = make_scheduler(registry, "greedy_time");
  // Three times one second is more than two seconds, until the task has become faster.
  SyntheticRun run({{falling(2, 2, 50)}, {falling(1, 0.1, 16), 3.0}}, TuningGoal::TotalTime);
  run.go_on(*scheduler, 5);
  EXPECT_EQ(run.chosen[0], 0u);
  EXPECT_EQ(run.chosen[1], 1u) << "each has its first round";
  EXPECT_EQ(run.chosen[2], 0u) << "3 * 0.55 is less than 2";
}

TEST(GreedyTime, LeavesWhatDoesNotWorkForLast) {
  PluginRegistry registry;
  const auto scheduler = make_scheduler(registry, "greedy_time");
  SyntheticRun run({{}, {falling(1, 0.1, 16)}}, TuningGoal::TotalTime);
  run.go_on(*scheduler, 6);
  EXPECT_EQ(rounds_of(run, 0), 1);
  run.histories[1].done = true;
  run.go_on(*scheduler, 1);
  EXPECT_EQ(run.chosen.back(), 0u);
}

TEST(Gradient, BeginsWithARoundForEach) {
  PluginRegistry registry;
  const auto scheduler = make_scheduler(registry, "gradient");
  SyntheticRun run({{falling(1, 0.1, 50)}, {falling(9, 0.1, 50)}, {}}, TuningGoal::TotalTime);
  run.go_on(*scheduler, 3);
  EXPECT_THAT(run.chosen, ElementsAre(0, 1, 2));
}

TEST(Gradient, GivesMostToWhereMostIsWon) {
  PluginRegistry registry;
  // One falls for long, the other not at all; both begin with the same time and weight.
  const std::vector<SyntheticTask> tasks{{falling(1, 0.05, 200), 1.0, 1}, {falling(1, 1, 50), 1.0, 2}};
  SyntheticRun run(tasks, TuningGoal::GeometricMean);
  run.go_on(*make_scheduler(registry, "gradient", {option("alpha", "0.9")}), 40);
  EXPECT_GT(rounds_of(run, 0), 2 * rounds_of(run, 1));
  SyntheticRun fair(tasks, TuningGoal::GeometricMean);
  fair.go_on(*make_scheduler(registry, "round_robin"), 40);
  EXPECT_LT(run.goal(), fair.goal());
}

TEST(Gradient, TheGoalDecidesWhatALongTaskIsWorth) {
  PluginRegistry registry;
  const auto scheduler = make_scheduler(registry, "gradient");
  const std::vector<SyntheticTask> tasks{{falling(1000, 100, 100), 1.0, 1}, {falling(1, 0.1, 100), 1.0, 2}};
  SyntheticRun total(tasks, TuningGoal::TotalTime);
  total.go_on(*scheduler, 40);
  EXPECT_GT(rounds_of(total, 0), 30) << "a thousand times as much is to be won";
  SyntheticRun mean(tasks, TuningGoal::GeometricMean);
  mean.go_on(*scheduler, 40);
  EXPECT_LE(std::abs(rounds_of(mean, 0) - rounds_of(mean, 1)), 4) << "as much, in proportion";
}

TEST(Gradient, AWeightIsWorthRounds) {
  PluginRegistry registry;
  const auto scheduler = make_scheduler(registry, "gradient");
  SyntheticRun run({{falling(1, 0.1, 100), 5.0, 1}, {falling(1, 0.1, 100), 1.0, 2}},
                   TuningGoal::GeometricMean);
  run.go_on(*scheduler, 40);
  EXPECT_GT(rounds_of(run, 0), 2 * rounds_of(run, 1));
}

TEST(Gradient, WhatSimilarTasksReachIsExpected) {
  PluginRegistry registry;
  // Two tasks that have stopped falling; the first has a sibling with eight times its throughput.
  const auto tasks = [](uint64_t group) {
    return std::vector<SyntheticTask>{{falling(1, 1, 50), 1.0, 1, 1e6},
                                      {falling(1, 1, 50), 1.0, 2, 1e6},
                                      {falling(0.125, 0.125, 50), 1.0, group, 1e6}};
  };
  const auto scheduler = make_scheduler(registry, "gradient", {option("fairness", "0")});
  SyntheticRun related(tasks(1), TuningGoal::TotalTime);
  related.go_on(*scheduler, 23);
  EXPECT_GT(rounds_of(related, 0), 18);
  SyntheticRun strangers(tasks(3), TuningGoal::TotalTime);
  strangers.go_on(*scheduler, 23);
  EXPECT_LE(std::abs(rounds_of(strangers, 0) - rounds_of(strangers, 1)), 1);
}

TEST(Gradient, EveryTaskHasItsTurnSomeTime) {
  PluginRegistry registry;
  const std::vector<SyntheticTask> tasks{{falling(1000, 100, 1000), 1.0, 1}, {falling(1, 1, 50), 1.0, 2}, {}};
  SyntheticRun run(tasks, TuningGoal::TotalTime);
  run.go_on(*make_scheduler(registry, "gradient", {option("fairness", "10")}), 100);
  EXPECT_GE(rounds_of(run, 1), 4);
  EXPECT_GE(rounds_of(run, 2), 4) << "also one of which nothing works";
  SyntheticRun never(tasks, TuningGoal::TotalTime);
  never.go_on(*make_scheduler(registry, "gradient", {option("fairness", "0")}), 100);
  EXPECT_EQ(rounds_of(never, 1), 1);
}

TEST(Gradient, BeatsTakingTurnsOnASuite) {
  PluginRegistry registry;
  // Of thirty tasks a third is done after one round, a third falls slowly, a third fast.
  std::vector<SyntheticTask> tasks;
  for (int i = 0; i < 30; ++i) {
    const double first = std::exp2(i % 7);
    const double half = i % 3 == 0 ? 1.0 : i % 3 == 1 ? 20.0 : 80.0;
    tasks.push_back({falling(first, first / 10, half), 1.0, static_cast<uint64_t>(i % 3), first * 1e6});
  }
  const auto goal_of = [&](const std::string& id) {
    SyntheticRun run(tasks, TuningGoal::GeometricMean);
    run.go_on(*make_scheduler(registry, id), 120);
    return run.goal();
  };
  EXPECT_LT(goal_of("gradient"), goal_of("round_robin"));
}

class EveryScheduler : public testing::TestWithParam<const char*> {};

// A run that was killed continues with another object and the same histories.
TEST_P(EveryScheduler, AnswersFromTheHistoriesAlone) {
  PluginRegistry registry;
  const std::vector<SyntheticTask> tasks{
      {falling(7, 1, 30), 2.0, 1}, {falling(3, 1, 90), 1.0, 1}, {falling(5, 4, 10), 1.0, 2}, {}};
  SyntheticRun whole(tasks, TuningGoal::GeometricMean);
  whole.go_on(*make_scheduler(registry, GetParam()), 60);
  SyntheticRun killed(tasks, TuningGoal::GeometricMean);
  for (int round = 0; round < 60; ++round) killed.go_on(*make_scheduler(registry, GetParam()), 1);
  EXPECT_EQ(whole.chosen, killed.chosen);
}
INSTANTIATE_TEST_SUITE_P(BuiltIn, EveryScheduler, testing::Values("gradient", "round_robin", "greedy_time"));

}  // namespace
}  // namespace tunesmith::test
