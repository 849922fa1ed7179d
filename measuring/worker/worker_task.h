// The task a worker works on: how one candidate is verified and timed.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "messages/failure.h"
#include "messages/run.h"
#include "messages/task.h"
#include "runner/disturbance.h"
#include "tunesmith/plugin/registry.h"
#include "tunesmith/target/target.h"
#include "worker/call_resources.h"
#include "worker/foreign_threads.h"
#include "worker/process_state.h"
#include "worker/task_data.h"
#include "worker/timed_rounds.h"

namespace tunesmith {

class WorkerTask {
 public:
  /// Creates the target and the data. Throws UserError if no data can distinguish wrong results from
  /// rounding.
  explicit WorkerTask(TaskRequest request);

  ReadyReply ready() const { return data_->ready(); }
  /// The number of inputs and outputs.
  size_t arguments() const { return data_->arguments().size(); }

  /// A reply with device_lost is this worker's last. These functions throw PluginError if the target does.
  tl::expected<RunReply, FailureReply> run(const RunRequest& request);
  /// Adds a kernel to the rounds, after the existing ones
  /// or (begin) replacing them. run() ends the rounds.
  tl::expected<AddToRoundsReply, FailureReply> add_to_rounds(const AddToRoundsRequest& request);
  tl::expected<TimeInTurnReply, FailureReply> time_in_turn(const TimeInTurnRequest& request);
  /// Calls each kernel in the rounds once more, on other contents of the same buffers, and ends the rounds.
  tl::expected<CheckRoundsReply, FailureReply> check_rounds() { return rounds_->check(); }

 private:
  /// Throws EnvironmentError.
  std::unique_ptr<LoadedKernel> load(const CompiledKernel& kernel);
  /// run() without checking the process.
  tl::expected<RunReply, FailureReply> run_candidate(const RunRequest& request, ProcessWatch& process);
  /// A kernel that is correct on all data sets, and ready to be timed.
  struct VerifiedKernel {
    GuardedBuffer* space = nullptr;            // null: not needed
    std::unique_ptr<PreparedMemory> prepared;  // null: it prepares nothing
    double prepare_seconds = 0.0;
    double call_seconds = 0.0;
    double worst_error = 0.0;
    std::optional<double> modelled_seconds;  // such a kernel is not timed, and not made ready
  };
  tl::expected<VerifiedKernel, FailureReply> verify_and_prepare(LoadedKernel& loaded,
                                                                const RunRequest& request,
                                                                ProcessWatch& process);
  tl::expected<RunReply, FailureReply> time_verified(LoadedKernel& loaded, const RunRequest& request,
                                                     VerifiedKernel& verified, ProcessWatch& process);

  std::unique_ptr<PluginRegistry> registry_;
  std::string target_id_;
  std::shared_ptr<Target> target_;
  std::unique_ptr<CallResources> resources_;
  std::unique_ptr<TaskData> data_;
  std::unique_ptr<TimedRounds> rounds_;
  std::unique_ptr<DisturbanceProbe> probe_;
  std::unique_ptr<ForeignThreads> foreign_threads_;
  std::vector<int> descriptors_;  // before the first candidate
  SamplingOptions sampling_;
};

}  // namespace tunesmith
