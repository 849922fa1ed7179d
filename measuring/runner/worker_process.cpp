#include "runner/worker_process.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runner/disturbance.h"
#include "runner/exit_codes.h"
#include "tunesmith/schema/limits.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/installation.h"

namespace tunesmith {
namespace {

constexpr std::chrono::seconds kDyingTime{2};  // between the end of its socket and its own
constexpr int kWorkerSocket = 3;               // the descriptor that tunesmith-worker serves

CandidateFailure failure_of(int status) {
  if (WIFEXITED(status)) {
    switch (WEXITSTATUS(status)) {
      case kExitOutOfBounds:
        return {FailureCause::OutOfBounds, "touched memory outside its buffers"};
      case kExitOutOfMemory:
        return {FailureCause::OutOfMemory, "asked for more memory than it may have"};
      case kExitIllegalInstruction:
        return {FailureCause::IllegalInstruction,
                "executed an instruction that this processor does not have"};
      case kExitCrash:
        return {FailureCause::Crash, "ended by a fault of its own"};
      default:
        return {FailureCause::WorkerLost, fmt::format("the worker exited with code {}", WEXITSTATUS(status))};
    }
  }
  const int signal = WTERMSIG(status);
  if (signal == SIGILL)
    return {FailureCause::IllegalInstruction, "executed an instruction that this processor does not have"};
  if (signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGABRT) {
    return {FailureCause::Crash, fmt::format("ended by signal {}", signal)};
  }
  return {FailureCause::WorkerLost, fmt::format("the worker was ended by signal {}", signal)};
}

}  // namespace

CandidateFailure nonsensical_answer(std::string_view why) {
  return {FailureCause::WorkerLost, fmt::format("the worker's answer makes no sense: {}", why)};
}

WorkerProcess::WorkerProcess() {
  const std::filesystem::path program = library_folder().parent_path() / "bin" / "tunesmith-worker";
  if (access(program.c_str(), X_OK) != 0) {
    throw EnvironmentError(fmt::format("{}: cannot be executed: {}; the worker belongs to the installation",
                                       program.string(), std::strerror(errno)));
  }
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) {
    throw EnvironmentError(std::string("no socket for the worker: ") + std::strerror(errno));
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  // dup2 onto itself would leave close-on-exec set.
  const int source =
      sockets[1] == kWorkerSocket ? fcntl(sockets[1], F_DUPFD_CLOEXEC, kWorkerSocket + 1) : sockets[1];
  posix_spawn_file_actions_adddup2(&actions, source, kWorkerSocket);
  posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO,
                                   STDOUT_FILENO);  // stdout is the tuner's, for its results
  std::string name = program.string();
  char* arguments[] = {name.data(), nullptr};
  const int error = posix_spawn(&process_, program.c_str(), &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  close(sockets[1]);
  if (source != sockets[1]) close(source);
  socket_ = sockets[0];
  if (error != 0) {
    close(socket_);
    throw EnvironmentError(fmt::format("{}: cannot be started: {}", program.string(), std::strerror(error)));
  }
}

WorkerProcess::~WorkerProcess() {
  if (process_ > 0) {
    kill(process_, SIGKILL);
    reap();
  }
  close(socket_);
}

CandidateFailure WorkerProcess::reap() {
  int status = 0;
  // One that closed its socket may well live on.
  const auto deadline = std::chrono::steady_clock::now() + kDyingTime;
  while (waitpid(process_, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > deadline) {
      kill(process_, SIGKILL);
      while (waitpid(process_, &status, 0) < 0 && errno == EINTR) {
      }
      break;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
  process_ = -1;
  return failure_of(status);
}

WorkerProcess::Reply WorkerProcess::ask(const Message& question, const MessageLimits& limits,
                                        double time_out_seconds, const std::atomic<bool>* stop) {
  Reply reply;
  const auto deadline = std::chrono::steady_clock::now() +
                        std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                            std::chrono::duration<double>(std::min(time_out_seconds, kMaxSeconds)));
  const std::map<std::string, double> waited = waited_by_thread(process_);
  Received answer;
  answer.status = send_message(socket_, question, ++asked_, {deadline, stop});
  if (answer.status == TransferStatus::Done) answer = receive_message(socket_, limits, {deadline, stop});
  if (answer.status == TransferStatus::Done && answer.number != asked_) {
    answer.status = TransferStatus::Nonsense;
    answer.nonsense = fmt::format("it is for question {}, and {} was asked", answer.number, asked_);
  }
  switch (answer.status) {
    case TransferStatus::Done:
      reply.message = std::move(answer.message);
      break;
    case TransferStatus::Closed:
      reply.failure = reap();
      break;
    case TransferStatus::Nonsense:
      kill(process_, SIGKILL);
      reap();
      reply.failure = nonsensical_answer(answer.nonsense);
      break;
    case TransferStatus::Stopped:
      kill(process_, SIGKILL);
      reap();
      reply.failure = {FailureCause::WorkerLost, "stopped by the user"};
      break;
    case TransferStatus::TimedOut:
      reply.disturbed = DisturbanceDetector::disturbed(waited, waited_by_thread(process_), time_out_seconds);
      kill(process_, SIGKILL);
      reap();
      reply.failure = {FailureCause::TimeOut, fmt::format("not done in {} s", time_out_seconds)};
      break;
  }
  return reply;
}

}  // namespace tunesmith
