// Measures and records jobs from elsewhere: the counterpart of `trace
// export`, for searches that distribute their candidates to other machines.
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

/// The result of one job.
struct JobResult {
  std::string refusal;                   // why it cannot be measured here; "" if it was recorded
  std::vector<std::string> differences;  // as in CandidateCheck
  std::optional<Record> record;          // of this measurement, or of an earlier one; none: see `refusal`
  bool known = false;                    // from an earlier measurement
};

/// Keeps the worker of the last task: group jobs by task. A job whose program
/// is already on record on this machine, verified by the current check, is
/// not measured again. Belongs to one thread. Its arguments outlive it.
class JobMeasurer {
 public:
  struct Options {
    int threads = 0;                          // of the measured programs; 0: as each job says
    bool fresh = false;                       // measure again what is on record
    std::string command;                      // recorded as the run's command
    std::shared_ptr<MachineLock> machine;     // shared with other measuring processes
    const std::atomic<bool>* stop = nullptr;  // stops the current measurement; may be null
    /// Called before the first measurement of each workload; a UserError refuses its jobs. May be null.
    std::function<void(const Workload&)> admit;
    /// Is the machine slower or faster than usual, so that times are marked disturbed? Null: never.
    std::function<bool()> drifted = nullptr;
  };
  JobMeasurer(const Space& space, WorkerTarget worker_target, RecordStore& store, Options options);
  ~JobMeasurer();
  JobMeasurer(const JobMeasurer&) = delete;
  JobMeasurer& operator=(const JobMeasurer&) = delete;

  /// Checks first that the job's trace gives the same program here (check_candidate). Recorded when
  /// it returns. Neither refused nor recorded: the stop flag was set. Throws EnvironmentError.
  JobResult measure(const Job& job);
  /// The times of each program, followed by those of the peak kernel if requested; or why the programs cannot
  /// be timed here. Records nothing. Throws EnvironmentError.
  tl::expected<std::vector<InterleavedTimes>, std::string> time_in_turn(const Turns& turns);
  /// Ends the run with this reason. A run without an end counts as killed.
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
  std::optional<RecordedRun> run_;  // since the first measurement
  std::unique_ptr<Task> task_;      // of the previous job
  uint64_t measured_ = 0;
};

}  // namespace tunesmith
#pragma GCC visibility pop
