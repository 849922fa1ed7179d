// Tunes many tasks under one budget: the space's task scheduler chooses the task of each round.
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

/// One task of a run.
struct WeightedTask {
  Workload workload;
  double weight = 1.0;        ///< above 0: TaskHistory::weight
  double runner_bytes = 0.0;  ///< approximate memory of its runner
};

struct TuneManyOptions {
  /// For each task. Trials and time limit are the budget's, and the
  /// model file is only loaded: each task learns a model of its own.
  TuneOptions task;
  /// Measured candidates of all tasks together, including those resumed from records. 0: no limit.
  int64_t trials = 0;
  /// Wall-clock time of the call, including the final rankings. 0: no limit.
  double seconds = 0.0;
  TuningGoal goal = TuningGoal::GeometricMean;
  /// A task is not continued if its next round is expected to lower
  /// the goal by less than this share (expected_share()). 0: off.
  double min_gain = 0.0;
  /// The number of tasks whose rounds run at once (MeasuringPlace::rounds_at_once).
  size_t rounds_at_once = 1;
  /// Runners are kept between rounds up to this total memory.
  double runner_bytes = 2e9;
};

/// Makes the runner of a task, each time the task is measured after its runner was dropped.
using MakeRunner = std::function<std::unique_ptr<Runner>(const WeightedTask& task)>;

/// The state of a run, for a live table.
struct TuneManyProgress {
  enum class Phase : uint8_t {
    Opening,    ///< reading records and composing the space of `task`
    Searching,  ///< a round of `task`
    Ranking     ///< final ranking of `task`
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
  /// The task cannot be measured: TaskOutcome::error. Found in its first round, before any second round.
  std::function<void(size_t task, const std::string& error)> refused;
  /// Set by a signal handler to stop soon with the best so far.
  const std::atomic<bool>* stop = nullptr;
};

/// The result of one task.
struct TaskOutcome {
  TuneResult result;
  TaskHistory history;
  /// "shared budget", "expected gain", "nothing left to propose", "interrupted", or the error.
  std::string ended_because;
  /// Why this workload cannot be measured (a UserError), while the others continued; else "".
  std::string error;
};

struct TuneManyResult {
  std::vector<TaskOutcome> tasks;  ///< in the order given
  int64_t trials = 0;
  double seconds = 0.0;  ///< of wall-clock
  bool interrupted = false;
};

/// Opens all tasks with their records, and runs rounds of TuneOptions::batch trials until the budget
/// is spent or every task is done; then ranks the best programs of each. Of a budget of seconds,
/// time is reserved for the rankings; a task whose ranking would begin too late is not ranked.
///
/// The choice of tasks depends only on results: a killed run that is restarted
/// with the same arguments counts its recorded trials and continues as without
/// the interruption (with a budget of trials and a repeatable searcher).
///
/// `tasks`: with distinct Workload::hash. Throws as TuningTask does.
TuneManyResult tune_many(std::span<const WeightedTask> tasks, const Space& space, RecordStore& store,
                         const MakeRunner& make_runner, const Environment& environment,
                         const TuneManyOptions& options, const TuneManyHooks& hooks = {});

/// The share of the goal that the task's next round is expected to save, as if all
/// trials were independent draws: the probability that the next round contains the
/// best of all, times the recent improvements. Relative to the sum of all times,
/// or of the weights for a geometric mean; 0 if no program has worked.
double expected_share(const TaskSet& set, size_t task);

}  // namespace tunesmith
#pragma GCC visibility pop
