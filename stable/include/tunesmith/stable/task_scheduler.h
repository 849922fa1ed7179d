// Task schedulers: the interface that a task-scheduler plugin implements. It decides which of many tasks
// under one budget is searched next.
//
// The kernel owns the loop: it asks for a task, gives it a round (proposed, built, measured, recorded,
// learned), and asks again, until the budget is spent or no task is left. A run that was interrupted
// continues with a new object of the scheduler: an answer must follow from the histories that come with the
// question, so a scheduler keeps nothing between two questions and draws no random numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "tunesmith/stable/plugin.h"

namespace tunesmith {
inline namespace stable {

/// What a set of tasks is tuned for.
enum class TuningGoal : uint32_t {
  TotalTime = TUNESMITH_GOAL_TOTAL_TIME,         ///< the sum of weight * seconds
  GeometricMean = TUNESMITH_GOAL_GEOMETRIC_MEAN  ///< the sum of weight * log(seconds)
};

/// A program that was faster than all before it.
struct Improvement {
  int64_t trials = 0;    ///< of the task when it was found; 0: on record of other runs when this one began
  double seconds = 0.0;  ///< of one call, the smallest sample
};

/// What is known of one task. A value.
struct TaskHistory {
  double weight = 1.0;      ///< how much it counts, above 0: how often a network calls it
  uint64_t group = 0;       ///< tasks with equal groups are similar
  double operations = 0.0;  ///< arithmetic of one call
  int64_t trials = 0;       ///< measured so far, those of the same run before it was interrupted included
  std::vector<Improvement> improvements;  ///< by rising trials and falling seconds
  bool done = false;                      ///< it takes no further round

  /// Of the fastest program so far, in seconds; infinity when no program has worked.
  double best() const {
    return improvements.empty() ? std::numeric_limits<double>::infinity() : improvements.back().seconds;
  }
  /// Of the fastest after so many trials.
  double best_after(int64_t trials_then) const {
    double fastest = std::numeric_limits<double>::infinity();
    for (const Improvement& improvement : improvements) {
      if (improvement.trials > trials_then) break;
      fastest = improvement.seconds;
    }
    return fastest;
  }
};

/// All tasks of a run, as a scheduler is told of them.
struct TaskSet {
  std::span<const TaskHistory> tasks;  ///< always in the same order; not empty
  int64_t round = 0;                   ///< trials of a whole round; the last one of a budget may be shorter
  TuningGoal goal = TuningGoal::GeometricMean;

  /// By how much the goal falls for each second that the task's best program gets faster; 0 when none has
  /// worked.
  double slope(const TaskHistory& task) const {
    if (task.improvements.empty()) return 0.0;
    return goal == TuningGoal::TotalTime ? task.weight : task.weight / task.best();
  }
  /// The first task that is not done and has not had a whole round; nothing when all have.
  std::optional<size_t> not_begun() const {
    for (size_t i = 0; i < tasks.size(); ++i) {
      if (!tasks[i].done && tasks[i].trials < round) return i;
    }
    return std::nullopt;
  }
  /// Of the tasks that are not done the one with the fewest trials, of equals the first; nothing when all are
  /// done.
  std::optional<size_t> fewest_trials() const {
    std::optional<size_t> fewest;
    for (size_t i = 0; i < tasks.size(); ++i) {
      if (!tasks[i].done && (!fewest || tasks[i].trials < tasks[*fewest].trials)) fewest = i;
    }
    return fewest;
  }
};

/// One object for a whole run; called by one thread at a time.
class TaskScheduler {
 public:
  virtual ~TaskScheduler() = default;
  /// Which task gets the next round: the index of one that is not done. It is asked only while there is one.
  virtual size_t next(const TaskSet& set) const = 0;
};

template <>
struct PluginInterface<PluginKind::TaskScheduler> {
  using type = TaskScheduler;

  static TaskHistory history_of(const tunesmith_task& task) {
    TaskHistory history{task.weight, task.group, task.operations, task.trials, {}, task.done != 0};
    for (uint64_t i = 0; i < task.improvements.count; ++i) {
      const auto& each = detail::element<tunesmith_improvement>(task.improvements, i);
      history.improvements.push_back({each.trials, each.seconds});
    }
    return history;
  }
  static tunesmith_error* next(const void* object, const tunesmith_task_set* set, uint64_t* chosen) noexcept {
    return detail::guarded([&] {
      std::vector<TaskHistory> tasks;
      for (uint64_t i = 0; i < set->tasks.count; ++i)
        tasks.push_back(history_of(detail::element<tunesmith_task>(set->tasks, i)));
      *chosen =
          static_cast<const type*>(object)->next({tasks, set->round, static_cast<TuningGoal>(set->goal)});
    });
  }
  static constexpr tunesmith_task_scheduler_interface kFunctions = {
      sizeof(tunesmith_task_scheduler_interface), &next};
};

}  // namespace stable
}  // namespace tunesmith
