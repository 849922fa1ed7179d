// The interface of task schedulers, which decide which of many tasks under one budget is searched next.
//
// The kernel owns the loop: it asks for a task, runs one round of it (propose, build, measure, record,
// learn), and repeats until the budget is spent or no task is left. An interrupted run continues with a new
// object: the choice must depend only on the given histories. So a scheduler keeps no state between calls and
// draws no random numbers.
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

/// The objective for a set of tasks.
enum class TuningGoal : uint32_t {
  TotalTime = TUNESMITH_GOAL_TOTAL_TIME,         ///< the sum of weight * seconds
  GeometricMean = TUNESMITH_GOAL_GEOMETRIC_MEAN  ///< the sum of weight * log(seconds)
};

/// A program that was faster than all earlier ones.
struct Improvement {
  int64_t trials = 0;    ///< the task's trials when it was found; 0: other runs recorded it before
  double seconds = 0.0;  ///< the smallest sample of one call
};

/// The history of one task.
struct TaskHistory {
  double weight = 1.0;      ///< positive: how often a network calls the task
  uint64_t group = 0;       ///< tasks with equal groups are similar
  double operations = 0.0;  ///< arithmetic operations of one call
  int64_t trials = 0;       ///< measured so far, including those of the same run before an interruption
  std::vector<Improvement> improvements;  ///< by ascending trials and descending seconds
  bool done = false;                      ///< it takes no further round

  /// The time of the fastest program so far, in seconds; infinity if no program has worked.
  double best() const {
    return improvements.empty() ? std::numeric_limits<double>::infinity() : improvements.back().seconds;
  }
  /// The time of the fastest program after so many trials.
  double best_after(int64_t trials_then) const {
    double fastest = std::numeric_limits<double>::infinity();
    for (const Improvement& improvement : improvements) {
      if (improvement.trials > trials_then) break;
      fastest = improvement.seconds;
    }
    return fastest;
  }
};

/// All tasks of a run, as a scheduler sees them.
struct TaskSet {
  std::span<const TaskHistory> tasks;  ///< always in the same order; not empty
  int64_t round = 0;                   ///< trials of a whole round; the last one of a budget may be shorter
  TuningGoal goal = TuningGoal::GeometricMean;

  /// The decrease of the goal per second that the task's best program gets faster; 0 if no program has
  /// worked.
  double slope(const TaskHistory& task) const {
    if (task.improvements.empty()) return 0.0;
    return goal == TuningGoal::TotalTime ? task.weight : task.weight / task.best();
  }
  /// The first task that is not done and has had less than a whole round; nothing if there is none.
  std::optional<size_t> not_begun() const {
    for (size_t i = 0; i < tasks.size(); ++i) {
      if (!tasks[i].done && tasks[i].trials < round) return i;
    }
    return std::nullopt;
  }
  /// The task with the fewest trials among those not done, the first if several have; nothing if all are
  /// done.
  std::optional<size_t> fewest_trials() const {
    std::optional<size_t> fewest;
    for (size_t i = 0; i < tasks.size(); ++i) {
      if (!tasks[i].done && (!fewest || tasks[i].trials < tasks[*fewest].trials)) fewest = i;
    }
    return fewest;
  }
};

/// One object serves a whole run; one thread at a time calls it.
class TaskScheduler {
 public:
  virtual ~TaskScheduler() = default;
  /// Returns the index of the task for the next round. The task must not be done; called only while such a
  /// task exists.
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
