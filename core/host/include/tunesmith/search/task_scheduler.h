// Task schedulers: the interface of task-scheduler plugins, which
// decide which of several tasks under one budget is searched next.
//
// The kernel owns the loop: it asks for a task, runs one round of it (propose, build,
// measure, record, learn), and repeats until the budget is spent or no task is left.
//
// An interrupted run continues with a new object, and the
// tasks have the histories from the records. So the answer
// must depend only on the given histories: a scheduler keeps
// no state between questions and draws no random numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#pragma GCC visibility push(default)
namespace tunesmith {

/// What a set of tasks is optimised for.
enum class TuningGoal : uint8_t {
  TotalTime,     ///< the sum of weight * seconds: the time of a network that calls each task `weight` times
  GeometricMean  ///< the sum of weight * log(seconds): all tasks count equally, however long they take
};

/// A program that was faster than all previous ones.
struct Improvement {
  int64_t trials = 0;    ///< of the task when it was found; 0: on record before this run
  double seconds = 0.0;  ///< of one call, the smallest sample
};

/// The history of one task. A value.
struct TaskHistory {
  double weight = 1.0;      ///< above 0: how often a network calls it
  uint64_t group = 0;       ///< equal for similar tasks: the same operator and data type with other shapes
  double operations = 0.0;  ///< arithmetic of one call
  int64_t trials = 0;       ///< so far, with those of the same run before an interruption
  std::vector<Improvement> improvements;  ///< by increasing trials and decreasing seconds
  /// The task gets no further round: nothing is left to search or to gain.
  bool done = false;

  /// The fastest time so far in seconds; infinity if no program has worked.
  double best() const;
  /// The fastest time after this many trials.
  double best_after(int64_t trials_then) const;
};

/// All tasks of a run, as a scheduler sees them.
struct TaskSet {
  std::span<const TaskHistory> tasks;  ///< always in the same order; not empty
  int64_t round = 0;                   ///< trials of a full round; the last round of a budget may be shorter
  TuningGoal goal = TuningGoal::GeometricMean;

  /// The decrease of the goal per second that the task's
  /// best program gets faster; 0 if no program has worked.
  double slope(const TaskHistory& task) const;
  /// The first unfinished task without a full round; nothing if there is none.
  std::optional<size_t> not_begun() const;
  /// The unfinished task with the fewest trials,
  /// the first of equals; nothing if all are done.
  std::optional<size_t> fewest_trials() const;
};

/// One object for a whole run; called by one thread at a time.
class TaskScheduler {
 public:
  virtual ~TaskScheduler();
  /// The index of the task that gets the next round; it must not be done.
  /// Called only while there is such a task, and after each of them has begun.
  virtual size_t next(const TaskSet& set) const = 0;
};

}  // namespace tunesmith
#pragma GCC visibility pop
