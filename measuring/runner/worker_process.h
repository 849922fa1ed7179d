// The tuner's side of one worker process.
#pragma once

#include <optional>
#include <string_view>

#include "messages/message.h"
#include "tunesmith/measure/failure.h"
#include "tunesmith/process/child_process.h"

namespace tunesmith {

/// Starts tunesmith-worker and owns it: killed and reaped by the destructor. Not thread-safe.
class WorkerProcess {
 public:
  /// Throws EnvironmentError when the worker is not installed or cannot be started.
  WorkerProcess();
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  /// The answer, or why there is none; after a failure the process is gone. A process with an invalid
  /// answer (no message, beyond `limits`, or to another question) is killed and counts as lost.
  struct Reply {
    std::optional<Message> message;
    CandidateFailure failure{FailureCause::WorkerLost, ""};
    std::optional<bool> disturbed;  // after a time-out: something else used the machine, as far as is known
  };
  Reply ask(const Message& question, const MessageLimits& limits, double time_out_seconds,
            const std::atomic<bool>* stop = nullptr);

 private:
  CandidateFailure reap();

  std::optional<ChildProcess> process_;
  int socket_ = -1;
  uint64_t asked_ = 0;  // questions
};

/// The failure for an invalid answer: "its field 'samples' is missing".
CandidateFailure nonsensical_answer(std::string_view why);

}  // namespace tunesmith
