// The facts about tasks that a scheduler gets.
#include <limits>

#include <gtest/gtest.h>

#include <tunesmith/search/task_scheduler.h>

namespace tunesmith {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

TaskHistory after(int64_t trials, std::vector<Improvement> improvements) {
  TaskHistory history;
  history.trials = trials;
  history.improvements = std::move(improvements);
  return history;
}

TEST(TaskHistory, TheBestIsThatOfTheLastImprovementThen) {
  const TaskHistory history = after(40, {{2, 8.0}, {3, 4.0}, {30, 1.0}});
  EXPECT_EQ(history.best(), 1.0);
  EXPECT_EQ(history.best_after(1), kNever);
  EXPECT_EQ(history.best_after(2), 8.0);
  EXPECT_EQ(history.best_after(29), 4.0);
  EXPECT_EQ(history.best_after(100), 1.0);
  EXPECT_EQ(after(5, {}).best(), kNever);
  EXPECT_EQ(after(5, {}).best_after(5), kNever);
}

TEST(TaskSet, TheSlopeIsThatOfTheGoal) {
  std::vector<TaskHistory> tasks{after(1, {{1, 0.5}}), after(1, {})};
  tasks[0].weight = 3.0;
  const TaskSet total{tasks, 16, TuningGoal::TotalTime};
  EXPECT_EQ(total.slope(tasks[0]), 3.0);
  EXPECT_EQ(total.slope(tasks[1]), 0.0) << "nothing works: nobody knows";
  const TaskSet mean{tasks, 16, TuningGoal::GeometricMean};
  EXPECT_EQ(mean.slope(tasks[0]), 6.0);
}

TEST(TaskSet, TellsWhoHasNotBegunAndWhoHasLeast) {
  std::vector<TaskHistory> tasks{after(16, {}), after(15, {}), after(0, {})};
  const TaskSet set{tasks, 16, TuningGoal::TotalTime};
  EXPECT_EQ(set.not_begun(), 1u);
  EXPECT_EQ(set.fewest_trials(), 2u);
  tasks[2].done = true;
  EXPECT_EQ(set.fewest_trials(), 1u);
  tasks[1].done = true;
  EXPECT_EQ(set.not_begun(), std::nullopt);
  tasks[0].done = true;
  EXPECT_EQ(set.fewest_trials(), std::nullopt);
}

}  // namespace
}  // namespace tunesmith
