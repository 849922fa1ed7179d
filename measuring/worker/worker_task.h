// The task a worker works on: inputs, the reference, and how one candidate is verified and timed.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "messages/add_to_rounds.h"
#include "messages/check_rounds.h"
#include "messages/failure.h"
#include "messages/run.h"
#include "messages/task.h"
#include "messages/time_in_turn.h"
#include "runner/disturbance.h"
#include "tunesmith/plugin/registry.h"
#include "tunesmith/runtime/pool.h"
#include "tunesmith/target/target.h"
#include "tunesmith/verification/choose_data.h"
#include "worker/foreign_threads.h"
#include "worker/prepared_memory.h"
#include "worker/process_state.h"
#include "worker/time_kernel.h"
#include "worker/verify_candidate.h"

namespace tunesmith {

class WorkerTask {
 public:
  /// Makes the target, chooses the data sets and runs the reference on them (or takes both from the request).
  /// Throws UserError when no data would tell a wrong result from rounding.
  explicit WorkerTask(TaskRequest request);

  /// For a worker that may have to take over.
  ReadyReply ready() const;
  /// How many there are, inputs and outputs.
  size_t arguments() const { return arguments_.size(); }

  /// A reply with device_lost is this worker's last. These throw PluginError when the target does.
  tl::expected<RunReply, FailureReply> run(const RunRequest& request);
  /// Takes a kernel into the rounds, after those there are or (begin) instead of them. A run() ends the
  /// rounds.
  tl::expected<AddToRoundsReply, FailureReply> add_to_rounds(const AddToRoundsRequest& request);
  tl::expected<TimeInTurnReply, FailureReply> time_in_turn(const TimeInTurnRequest& request);
  /// Calls each kernel in the rounds once more, on other contents of the same buffers, and ends the rounds.
  tl::expected<CheckRoundsReply, FailureReply> check_rounds();

 private:
  void choose_data(const CompiledKernel& reference, DataSet& data, const DataQuestion& question);
  /// The exact set anew, so that it sees every term of the longest sums. False where it cannot.
  bool draw_several_times(const CompiledKernel& reference, const DataQuestion& question);
  bool take_draws(DataSet& data, Fill& fill, std::vector<DrawnData> draws);
  RunReference runner_of(const CompiledKernel& reference, const LoadedKernel& loaded);
  /// `result`: the next of the request's.
  void take_data(const TaskRequest& request, const DataQuestion& question, size_t set, size_t& result);
  void set_inputs(DataSet& data, const std::vector<Tensor>& inputs);
  GuardedBuffer* workspace(int64_t bytes) { return workspace(bytes, workspace_); }
  static GuardedBuffer* workspace(int64_t bytes, std::unique_ptr<GuardedBuffer>& into);
  KernelCall timed_call(LoadedKernel& loaded, const CompiledKernel& kernel, const PreparedMemory* prepared,
                        GuardedBuffer* workspace) const;
  /// For the timed calls; seconds in `seconds`.
  std::unique_ptr<PreparedMemory> prepare(const LoadedKernel& loaded, const CompiledKernel& kernel,
                                          GuardedBuffer* workspace, double& seconds) const;
  /// Anew from what the inputs hold; answers the seconds.
  double prepare_into(PreparedMemory& prepared, const LoadedKernel& loaded, const PrepareStep& step,
                      void* workspace) const;
  /// The timed buffers get the inputs of the set's last draw, and poisoned outputs.
  void hold(DataSet& data);
  /// What is wrong with what a call on the set has left in the timed buffers.
  std::optional<CandidateFailure> wrong_in_rounds(const DataSet& data) const;
  std::vector<std::optional<CandidateFailure>> wrong_after_rounds();
  /// The verdicts on the data sets, up to the first that is a failure. `at_once`: on a thread for each.
  std::vector<Verdict> verify(const LoadedKernel& loaded, const CompiledKernel& kernel, bool at_once);
  /// `work` on the number of each data set, on a thread of its own.
  template <typename Work>
  void for_each_set(const Work& work);
  /// Two threads call the kernel at the same time, each on a data set of its own: what is the matter then,
  /// where all was right before.
  std::optional<CandidateFailure> wrong_at_once(const LoadedKernel& loaded, const CompiledKernel& kernel);
  /// run() without a look at the process.
  tl::expected<RunReply, FailureReply> run_candidate(const RunRequest& request, ProcessWatch& process);
  /// A kernel that is right on all data sets, and ready to be timed.
  struct VerifiedKernel {
    GuardedBuffer* space = nullptr;            // null: it needs none
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
  void end_rounds();

  std::unique_ptr<PluginRegistry> registry_;
  std::string target_id_;
  std::shared_ptr<Target> target_;
  std::vector<Argument> arguments_;
  std::unique_ptr<tunesmith_runtime_pool, void (*)(tunesmith_runtime_pool*)> pool_{
      nullptr, tunesmith_runtime_pool_destroy};
  /// Of several threads with little stack, however many are measured with: a library is called by any.
  std::unique_ptr<tunesmith_runtime_pool, void (*)(tunesmith_runtime_pool*)> verifying_{
      nullptr, tunesmith_runtime_pool_destroy};
  std::deque<DataSet> sets_;               // in the order of kDataKinds
  std::vector<Fill> fills_;                // of each of them
  std::unique_ptr<ArgumentMemory> timed_;  // with the inputs of the random set
  std::unique_ptr<GuardedBuffer> workspace_;
  std::unique_ptr<GuardedBuffer> second_workspace_;  // where two are used at once
  /// What the kernels in the rounds stand on.
  struct Loaded {
    std::unique_ptr<LoadedKernel> kernel;
    std::unique_ptr<PreparedMemory> prepared;
    std::optional<PrepareStep> step;
    bool computes = true;  // outputs: the yardstick does not
  };
  std::vector<Loaded> loaded_;
  std::vector<InterleavedKernel> rounds_;
  std::unique_ptr<DisturbanceProbe> probe_;
  std::unique_ptr<ForeignThreads> foreign_threads_;
  std::vector<int> descriptors_;  // before the first candidate
  SamplingOptions sampling_;
};

}  // namespace tunesmith
