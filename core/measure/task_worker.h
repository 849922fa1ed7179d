// The worker process for one instance of a workload: begun when it is first asked, and again when it has
// ended.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "measure/worker_process.h"
#include "tunesmith/measure/runner.h"

namespace tunesmith {

/// Belongs to one thread at a time. `target` outlives it.
class TaskWorker {
 public:
  TaskWorker(const Workload& workload, Target& target, const WorkerTarget& worker_target,
             const MeasureOptions& options);

  /// Compiles the reference, where that has not been done. Throws EnvironmentError.
  void prepare();
  bool running() const { return worker_ != nullptr; }
  void end() { worker_.reset(); }
  /// Prepares and begins the process where it is not running. Throws UserError when no data would tell a
  /// wrong result from rounding, EnvironmentError when no worker can be started. Where a target verifies
  /// twins, a reference that takes too long is a failure of whoever needed it.
  WorkerProcess::Reply ask(const Message& question, double time_out_seconds);

 private:
  bool stopped() const { return options_.stop != nullptr && options_.stop->load(); }
  /// Nothing when a person stopped it, which `failure` says, too.
  bool start(CandidateFailure& failure);

  Program program_;
  std::string key_;
  Target& target_;
  const WorkerTarget worker_target_;
  const MeasureOptions options_;
  const bool may_be_slow_;
  Message task_;  // empty until it is prepared
  std::unique_ptr<WorkerProcess> worker_;
  std::optional<CandidateFailure> too_slow_;  // it was tried
};

}  // namespace tunesmith
