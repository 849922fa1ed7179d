// Many tasks under one budget: the space's task scheduler says which of them gets the next round.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tunesmith/measure/runner.h"
#include "tunesmith/records/environment.h"
#include "tunesmith/records/record_store.h"
#include "tunesmith/search/task_scheduler.h"
#include "tunesmith/space/space.h"
#include "tunesmith/tuning/tuner.h"
#include "tunesmith/workload/workload.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// One of the tasks of a run.
struct WeightedTask {
  Workload workload;
  double weight = 1.0;        ///< above 0: TaskHistory::weight
  double runner_bytes = 0.0;  ///< of memory that its runner holds, about
};

struct TuneManyOptions {
  /// Of each task. Its trials and its time limit are the budget's, and its model file is only loaded: each
  /// task learns a model of its own.
  TuneOptions task;
  /// Candidates measured, of all tasks together, those resumed from the records included. 0: no limit.
  int64_t trials = 0;
  /// Of wall-clock from the call to its return, the final rankings included. 0: no limit.
  double seconds = 0.0;
  TuningGoal goal = TuningGoal::GeometricMean;
  /// A task whose next round is expected to lower the goal by less than this share (expected_share()) gets no
  /// round. 0: none is stopped so.
  double min_gain = 0.0;
  /// Runners are kept from round to round as far as they hold no more than this together.
  double runner_bytes = 2e9;
};

/// One for each task, made when the task is measured, and again when it was given up for others.
using MakeRunner = std::function<std::unique_ptr<Runner>(const WeightedTask& task)>;

/// The state of a run, for a live table.
struct TuneManyProgress {
  enum class Phase : uint8_t {
    Opening,    ///< reading records and making the space of `task`
    Searching,  ///< `task` has the round
    Ranking     ///< the best few programs of `task` are timed again
  };
  Phase phase = Phase::Opening;
  size_t task = 0;
  std::span<const TaskHistory> histories;  ///< one for each task
  int64_t trials = 0;                      ///< of all tasks
  int64_t failed = 0;                      ///< of the trials of this process
  double elapsed_seconds = 0.0;
};

/// Callbacks are called from the calling thread.
struct TuneManyHooks {
  /// TuneHooks::left_plain, of the task.
  std::function<void(size_t task, std::span<const PlainBlock>)> left_plain;
  std::function<void(const TuneManyProgress&)> progress;
  /// TuneHooks::said, of the task.
  std::function<void(size_t task, const std::string& sentence)> said;
  /// After a record of the task is safely in the store.
  std::function<void(size_t task, const Record&)> recorded;
  /// Nobody can measure the task: TaskOutcome::error. Found in its first round, before any task has a second.
  std::function<void(size_t task, const std::string& error)> refused;
  /// Set (by a signal handler) to stop soon with the best so far.
  const std::atomic<bool>* stop = nullptr;
};

/// What became of one task.
struct TaskOutcome {
  TuneResult result;
  TaskHistory history;
  /// "shared budget", "expected gain", "nothing left to propose", "interrupted", or why it failed.
  std::string ended_because;
  /// Nobody can measure this workload (a UserError); the others continued. "" where that is not so.
  std::string error;
};

struct TuneManyResult {
  std::vector<TaskOutcome> tasks;  ///< in the order given
  int64_t trials = 0;
  double seconds = 0.0;  ///< of wall-clock
  bool interrupted = false;
};

/// Opens all tasks with what is on record of them, and gives rounds of TuneOptions::batch trials until the
/// budget is spent or every task is done; then the best of each are ranked. With a budget of seconds, time
/// for the rankings is kept back; a task whose ranking would begin after the end is not ranked.
///
/// Which task gets a round follows from the results alone: a run that was killed and is started again with
/// the same arguments counts what it has on record and goes the way that it would have gone (under a budget
/// of trials, with a searcher that is repeatable).
///
/// `tasks`: no two with equal Workload::hash. Throws as TuningTask does.
TuneManyResult tune_many(std::span<const WeightedTask> tasks, const Space& space, RecordStore& store,
                         const MakeRunner& make_runner, const Environment& environment,
                         const TuneManyOptions& options, const TuneManyHooks& hooks = {});

/// Which share of the goal the task's next round is expected to save, as if every trial so far had been drawn
/// like every other: the chance that the next round holds the best of all, times what the last improvements
/// were worth. Of the sum of all times, or of the sum of the weights for a geometric mean; 0 when no program
/// has worked.
double expected_share(const TaskSet& set, size_t task);

}  // namespace tunesmith
#pragma GCC visibility pop
