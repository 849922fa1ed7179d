// Jobs from elsewhere, measured here and put on record: the other end of `trace export`, for a search that
// hands its candidates to other machines.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "tunesmith/measuring/job.h"
#include "tunesmith/measuring/machine_lock.h"
#include "tunesmith/measuring/turns.h"
#include "tunesmith/measuring/worker_runner.h"
#include "tunesmith/records/record_store.h"
#include "tunesmith/space/space.h"
#include "tunesmith/tuning/check_candidate.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// What became of one job.
struct JobResult {
  std::string refusal;                   // why it cannot be measured here; "" when it is on record
  std::vector<std::string> differences;  // as CandidateCheck has them
  std::optional<Record> record;          // of this measurement, or of an earlier one; none: see `refusal`
  bool known = false;                    // of an earlier one
};

/// Keeps the worker of the task that it measured last: jobs of one task are best given one after the other.
/// What is on record for a job's very program, on this machine and by the check as it is now, is not measured
/// again. Belongs to one thread. What it is given outlives it.
class JobMeasurer {
 public:
  struct Options {
    int threads = 0;                          // of the measured programs; 0: as each job says
    bool fresh = false;                       // measure what is on record, too
    std::string command;                      // for the record of the run
    std::shared_ptr<MachineLock> machine;     // that other processes measure on, too
    const std::atomic<bool>* stop = nullptr;  // ends what is under way; null: nothing does
    /// Asked before the first measurement of each workload; UserError refuses its jobs. Null: all are taken.
    std::function<void(const Workload&)> admit;
  };
  JobMeasurer(const Space& space, WorkerTarget worker_target, RecordStore& store, Options options);
  ~JobMeasurer();
  JobMeasurer(const JobMeasurer&) = delete;
  JobMeasurer& operator=(const JobMeasurer&) = delete;

  /// Asks first whether the job's trace makes the same program here (check_candidate). On record when it
  /// returns. Neither refused nor on record: the stop flag ended it. Throws EnvironmentError.
  JobResult measure(const Job& job);
  /// The times of each, and those of the peak's kernel behind them where it is asked for; or why the programs
  /// cannot be timed here. Nothing is put on record. Throws EnvironmentError.
  tl::expected<std::vector<InterleavedTimes>, std::string> time_in_turn(const Turns& turns);
  /// To be called at the end: why there are no more. Without it the run counts as one that was killed.
  void end(std::string_view because);

 private:
  struct Task;

  Task& task_for(const Job& job, int threads);
  std::optional<Record> known(const Task& task, const Job& job) const;
  Runner& runner_of(Task& task);
  std::optional<Record> run(Task& task, const Candidate& candidate, double limit_seconds);
  std::vector<InterleavedTimes> time_in_turn(Task& task, const std::vector<CandidatePtr>& candidates,
                                             const Turns& turns);
  const RecordedRun& run_record(int threads);

  const Space& space_;
  const WorkerTarget worker_target_;
  RecordStore& store_;
  const Options options_;
  const Environment environment_;
  std::optional<RecordedRun> run_;  // from the first measurement on
  std::unique_ptr<Task> task_;      // of the job before
  uint64_t measured_ = 0;
};

}  // namespace tunesmith
#pragma GCC visibility pop
