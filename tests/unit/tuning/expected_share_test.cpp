#include <cmath>

#include <gtest/gtest.h>

#include "tunesmith/tuning/tune_many.h"

namespace tunesmith {
namespace {

TaskHistory after(int64_t trials, std::vector<Improvement> improvements, double weight = 1.0) {
  TaskHistory history;
  history.weight = weight;
  history.trials = trials;
  history.improvements = std::move(improvements);
  return history;
}

TEST(ExpectedShare, FallsWithTrialsAndRisesWithWhatImprovementsWereWorth) {
  std::vector<TaskHistory> tasks{after(16, {{1, 2.0}, {9, 1.0}}), after(160, {{1, 2.0}, {9, 1.0}}),
                                 after(16, {{1, 1.1}, {9, 1.0}})};
  const TaskSet set{tasks, 16, TuningGoal::GeometricMean};
  EXPECT_GT(expected_share(set, 0), expected_share(set, 1));
  EXPECT_GT(expected_share(set, 0), expected_share(set, 2));
  // One chance in two to save half of one task in three.
  EXPECT_NEAR(expected_share(set, 0), (1.0 - std::sqrt(0.5)) / 3.0, 1e-9);
}

TEST(ExpectedShare, IsOfTheGoal) {
  std::vector<TaskHistory> tasks{after(16, {{1, 2.0}, {9, 1.0}}), after(16, {{1, 20.0}, {9, 9.0}})};
  const TaskSet total{tasks, 16, TuningGoal::TotalTime};
  EXPECT_NEAR(expected_share(total, 0), 0.1 * (1.0 - std::sqrt(0.5)), 1e-9);
  tasks[0].weight = 9.0;
  EXPECT_NEAR(expected_share(total, 0), 0.5 * (1.0 - std::sqrt(0.5)), 1e-9);
}

TEST(ExpectedShare, OfAFirstProgramAloneIsLittle) {
  std::vector<TaskHistory> tasks{after(16, {{1, 2.0}}), after(16, {})};
  const TaskSet set{tasks, 16, TuningGoal::GeometricMean};
  EXPECT_NEAR(expected_share(set, 0), 1.0 - std::exp(-0.005), 1e-9);
  EXPECT_EQ(expected_share(set, 1), 0.0);
}

}  // namespace
}  // namespace tunesmith
