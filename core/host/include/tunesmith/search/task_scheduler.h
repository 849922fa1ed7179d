// Task schedulers: the interface that a task-scheduler plugin implements. It decides which of many tasks
// under one budget is searched next.
//
// The kernel owns the loop: it asks for a task, gives it a round (proposed, built, measured, recorded,
// learned), and asks again, until the budget is spent or no task is left.
//
// A run that was interrupted continues with a new object of the scheduler, and the tasks have the histories
// that the records give. So an answer must follow from the histories that come with the question: a scheduler
// keeps nothing between two questions and draws no random numbers, and the same histories give the same
// answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#pragma GCC visibility push(default)
namespace tunesmith {

/// What a set of tasks is tuned for.
enum class TuningGoal : uint8_t {
  TotalTime,     ///< the sum of weight * seconds: the time of a network that calls each task `weight` times
  GeometricMean  ///< the sum of weight * log(seconds): each task as much as any other, however long it takes
};

/// A program that was faster than all before it.
struct Improvement {
  int64_t trials = 0;    ///< of the task when it was found; 0: on record of other runs when this one began
  double seconds = 0.0;  ///< of one call, the smallest sample
};

/// What is known of one task. A value.
struct TaskHistory {
  double weight = 1.0;  ///< how much it counts, above 0: how often a network calls it
  uint64_t group = 0;   ///< tasks with equal groups are similar: one operator and data type at other shapes
  double operations = 0.0;  ///< arithmetic of one call
  int64_t trials = 0;       ///< measured so far, those of the same run before it was interrupted included
  std::vector<Improvement> improvements;  ///< by rising trials and falling seconds
  /// Nothing is left to search, or nothing is to be gained: it takes no further round.
  bool done = false;

  /// Of the fastest program so far, in seconds; infinity when no program has worked.
  double best() const;
  /// Of the fastest after so many trials.
  double best_after(int64_t trials_then) const;
};

/// All tasks of a run, as a scheduler is told of them.
struct TaskSet {
  std::span<const TaskHistory> tasks;  ///< always in the same order; not empty
  int64_t round = 0;                   ///< trials of a whole round; the last one of a budget may be shorter
  TuningGoal goal = TuningGoal::GeometricMean;

  /// By how much the goal falls for each second that the task's best program gets faster; 0 when no program
  /// of it has worked.
  double slope(const TaskHistory& task) const;
  /// The first task that is not done and has not had a whole round; nothing when all have.
  std::optional<size_t> not_begun() const;
  /// Of the tasks that are not done the one with the fewest trials, of equals the first; nothing when all are
  /// done.
  std::optional<size_t> fewest_trials() const;
};

/// One object for a whole run; called by one thread at a time.
class TaskScheduler {
 public:
  virtual ~TaskScheduler();
  /// Which task gets the next round: the index of one that is not done. It is asked only while there is one,
  /// and once every task that is not done has begun.
  virtual size_t next(const TaskSet& set) const = 0;
};

}  // namespace tunesmith
#pragma GCC visibility pop
