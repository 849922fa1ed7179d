// Jobs from elsewhere, measured here and put on record.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <tunesmith/measuring/job.h>
#include <tunesmith/measuring/worker_runner.h>
#include <tunesmith/records/record_store.h>
#include <tunesmith/space/space.h>
#include <tunesmith/tuning/check_candidate.h>

namespace tunesmith::cli {

struct JobResult {
  std::string refusal;                   // why it cannot be measured here; "" when it is on record
  std::vector<std::string> differences;  // as CandidateCheck has them
  std::optional<Record> record;          // of this measurement, or of an earlier one; none: see `refusal`
  bool known = false;                    // of an earlier one
};

/// Belongs to one thread. What it is given outlives it.
class JobMeasurer {
 public:
  struct Options {
    int threads = 0;  // of the measured programs; 0: as each job says
    bool fresh = false;
    bool allow_memory = false;
    std::string command;
    const std::atomic<bool>* stop = nullptr;
  };
  JobMeasurer(const Space& space, WorkerTarget worker_target, RecordStore& store, Options options);
  ~JobMeasurer();
  JobMeasurer(const JobMeasurer&) = delete;
  JobMeasurer& operator=(const JobMeasurer&) = delete;

  /// On record when it returns. Neither refused nor on record: the stop flag ended it. Throws
  /// EnvironmentError.
  JobResult measure(const Job& job);
  /// To be called at the end: why there are no more.
  void end(std::string_view because);

 private:
  struct Task;

  Task& task_for(const Job& job, int threads);
  std::optional<Record> known(const Task& task, const Job& job) const;
  Runner& runner_of(Task& task);
  std::optional<Record> run(Task& task, const Candidate& candidate);
  const RecordedRun& run_record(int threads);

  const Space& space_;
  const WorkerTarget worker_target_;
  RecordStore& store_;
  const Options options_;
  const Environment environment_;
  std::shared_ptr<MachineLock> machine_;
  std::optional<RecordedRun> run_;  // from the first measurement on
  std::unique_ptr<Task> task_;      // of the job before
  uint64_t measured_ = 0;
};

}  // namespace tunesmith::cli
