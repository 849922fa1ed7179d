// The worker process for one instance of a workload:
// started on demand, and restarted after it has ended.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "messages/limits.h"
#include "runner/worker_process.h"
#include "tunesmith/measuring/worker_runner.h"
#include "tunesmith/verification/edges.h"
#include "worker/argument_memory.h"

namespace tunesmith {

/// Belongs to one thread at a time. `target` outlives it.
class TaskWorker {
 public:
  /// `parameters`: the candidates' values, for which `workload` was instantiated; empty without parameters.
  TaskWorker(const Workload& workload, Target& target, const WorkerTarget& worker_target,
             const MeasureOptions& options, std::vector<int64_t> parameters = {});

  /// Compiles the reference if necessary. Throws EnvironmentError.
  void prepare();
  bool running() const { return worker_ != nullptr; }
  void end() { worker_.reset(); }
  /// Runner::not_exercised().
  std::vector<std::string> not_exercised() const;

  /// Why there is no answer: the candidate or the worker failed.
  struct Unanswered {
    CandidateFailure failure;
    std::optional<bool> disturbed = std::nullopt;  // as in WorkerProcess::Reply
  };
  /// Asks and applies `read` to the answer. A worker with an invalid answer is killed and counts
  /// as lost. Prepares and starts the process if necessary. Throws UserError if no data can
  /// distinguish wrong results from rounding, EnvironmentError if no worker can be started. For a
  /// target that verifies twins, a reference that takes too long is a failure of the candidate.
  template <typename Read>
  auto ask(const Message& question, double time_out_seconds, Read read)
      -> tl::expected<typename decltype(read(question))::value_type, Unanswered> {
    const tl::expected<Message, Unanswered> answer = ask(question, time_out_seconds);
    if (!answer) return tl::make_unexpected(answer.error());
    auto reply = read(*answer);
    if (reply) return *std::move(reply);
    worker_.reset();
    return tl::make_unexpected(Unanswered{nonsensical_answer(reply.error())});
  }

 private:
  bool stopped() const { return options_.stop != nullptr && options_.stop->load(); }
  /// An answer without a failure.
  tl::expected<Message, Unanswered> ask(const Message& question, double time_out_seconds);
  /// False if the user stopped it, as `failure` says.
  bool start(CandidateFailure& failure);
  /// Starts the task in a new process after checking its message version,
  /// and returns the answer. Throws EnvironmentError if the version differs.
  WorkerProcess::Reply begin(WorkerProcess& worker, double time_out_seconds);

  Program program_;
  std::string key_;
  Target& target_;
  const WorkerTarget worker_target_;
  const MeasureOptions options_;
  const bool may_be_slow_;
  const std::vector<int64_t> parameters_;
  std::vector<Argument> arguments_;
  Message task_;           // empty until it is prepared
  bool has_data_ = false;  // task_ contains the data, as replacement workers need it
  Edges edges_;            // edges of the random data, once it is chosen
  std::unique_ptr<WorkerProcess> worker_;
  std::optional<CandidateFailure> too_slow_;  // why the reference is too slow, once it was tried
};

}  // namespace tunesmith
