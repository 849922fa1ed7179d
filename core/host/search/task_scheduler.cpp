#include "tunesmith/search/task_scheduler.h"

#include <algorithm>
#include <limits>

namespace tunesmith {

TaskScheduler::~TaskScheduler() = default;

double TaskHistory::best() const {
  return improvements.empty() ? std::numeric_limits<double>::infinity() : improvements.back().seconds;
}

double TaskHistory::best_after(int64_t trials_then) const {
  const auto later = std::ranges::find_if(
      improvements, [&](const Improvement& improvement) { return improvement.trials > trials_then; });
  return later == improvements.begin() ? std::numeric_limits<double>::infinity() : std::prev(later)->seconds;
}

double TaskSet::slope(const TaskHistory& task) const {
  if (task.improvements.empty()) return 0.0;
  return goal == TuningGoal::TotalTime ? task.weight : task.weight / task.best();
}

std::optional<size_t> TaskSet::not_begun() const {
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (!tasks[i].done && tasks[i].trials < round) return i;
  }
  return std::nullopt;
}

std::optional<size_t> TaskSet::fewest_trials() const {
  std::optional<size_t> fewest;
  for (size_t i = 0; i < tasks.size(); ++i) {
    if (!tasks[i].done && (!fewest || tasks[i].trials < tasks[*fewest].trials)) fewest = i;
  }
  return fewest;
}

}  // namespace tunesmith
