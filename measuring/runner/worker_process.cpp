#include "runner/worker_process.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runner/disturbance.h"
#include "runner/exit_codes.h"
#include "tunesmith/schema/limits.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/installation.h"

namespace tunesmith {
namespace {

constexpr double kDyingSeconds = 2;  // for a process to end after its socket has closed

CandidateFailure failure_of(const ProcessEnd& end) {
  if (end.cause == ProcessEnd::Cause::Exited) {
    switch (end.code) {
      case kExitOutOfBounds:
        return {FailureCause::OutOfBounds, "touched memory outside its buffers"};
      case kExitOutOfMemory:
        return {FailureCause::OutOfMemory, "asked for more memory than it may have"};
      case kExitIllegalInstruction:
        return {FailureCause::IllegalInstruction,
                "executed an instruction that this processor does not have"};
      case kExitCrash:
        return {FailureCause::Crash, "crashed"};
      default:
        return {FailureCause::WorkerLost, fmt::format("the worker exited with code {}", end.code)};
    }
  }
  if (end.code == SIGILL)
    return {FailureCause::IllegalInstruction, "executed an instruction that this processor does not have"};
  if (end.code == SIGSEGV || end.code == SIGBUS || end.code == SIGFPE || end.code == SIGABRT) {
    return {FailureCause::Crash, fmt::format("ended by signal {}", end.code)};
  }
  return {FailureCause::WorkerLost, fmt::format("the worker was ended by signal {}", end.code)};
}

/// Closed by the destructor unless taken.
struct Descriptor {
  int number;
  ~Descriptor() {
    if (number >= 0) close(number);
  }
};

}  // namespace

CandidateFailure nonsensical_answer(std::string_view why) {
  return {FailureCause::WorkerLost, fmt::format("invalid answer from the worker: {}", why)};
}

WorkerProcess::WorkerProcess() {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    throw EnvironmentError(std::string("no socket for the worker: ") + std::strerror(errno));
  }
  Descriptor ours{sockets[0]};
  const Descriptor theirs{sockets[1]};
  ProcessSetup setup;
  setup.output = setup.errors = STDERR_FILENO;  // stdout is the tuner's, for its results
  setup.passed = {theirs.number};
  process_.emplace(std::vector<std::string>{worker_program().string()}, setup);
  socket_ = std::exchange(ours.number, -1);
}

WorkerProcess::~WorkerProcess() { close(socket_); }

CandidateFailure WorkerProcess::reap() {
  // It may close its socket and continue to run.
  const ProcessEnd end = process_->wait(kDyingSeconds);
  process_.reset();
  return failure_of(end);
}

WorkerProcess::Reply WorkerProcess::ask(const Message& question, const MessageLimits& limits,
                                        double time_out_seconds, const std::atomic<bool>* stop) {
  Reply reply;
  const auto deadline = std::chrono::steady_clock::now() +
                        std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                            std::chrono::duration<double>(std::min(time_out_seconds, kMaxSeconds)));
  const std::map<std::string, double> waited = waited_by_thread(process_->id());
  Received answer;
  answer.status = send_message(socket_, question, ++asked_, {deadline, stop});
  if (answer.status == TransferStatus::Done) answer = receive_message(socket_, limits, {deadline, stop});
  if (answer.status == TransferStatus::Done && answer.number != asked_) {
    answer.status = TransferStatus::Nonsense;
    answer.nonsense = fmt::format("expected the answer to question {1}, found {0}", answer.number, asked_);
  }
  switch (answer.status) {
    case TransferStatus::Done:
      reply.message = std::move(answer.message);
      break;
    case TransferStatus::Closed:
      reply.failure = reap();
      break;
    case TransferStatus::Nonsense:
      process_.reset();
      reply.failure = nonsensical_answer(answer.nonsense);
      break;
    case TransferStatus::Stopped:
      process_.reset();
      reply.failure = {FailureCause::WorkerLost, "stopped by the user"};
      break;
    case TransferStatus::TimedOut:
      reply.disturbed =
          DisturbanceDetector::disturbed(waited, waited_by_thread(process_->id()), time_out_seconds);
      process_.reset();
      reply.failure = {FailureCause::TimeOut, fmt::format("not finished in {} s", time_out_seconds)};
      break;
  }
  return reply;
}

}  // namespace tunesmith
