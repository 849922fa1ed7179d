#include "tunesmith/measuring/worker.h"

#include <optional>
#include <utility>

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "messages/hello.h"
#include "messages/limits.h"
#include "tunesmith/plugin/error.h"
#include "tunesmith/support/error.h"
#include "worker/worker_faults.h"
#include "worker/worker_task.h"

namespace tunesmith {
namespace {

/// The tuner's questions are valid, unless a candidate has read a part of them.
template <typename Request>
Request understood(tl::expected<Request, std::string> request) {
  if (!request) throw EnvironmentError("invalid question: " + request.error());
  return *std::move(request);
}

/// If a target throws while it works on a candidate, the candidate fails.
template <typename Work>
auto blamed_on_the_candidate(const Work& work) -> decltype(work()) {
  try {
    return work();
  } catch (const PluginError& error) {
    return tl::make_unexpected(FailureReply{FailureCause::PluginError, error.what()});
  } catch (const UserError& error) {
    return tl::make_unexpected(FailureReply{FailureCause::PluginError, error.what()});
  }
}

/// Answers questions in sequence.
class Server {
 public:
  explicit Server(int socket) : socket_(socket) {}

  /// Answers until the tuner is gone, or this process cannot continue.
  void serve() {
    while (!done_) {
      Received received = receive_message(socket_, kQuestion);
      number_ = received.number;
      if (received.status == TransferStatus::Nonsense)
        throw EnvironmentError("invalid question: " + received.nonsense);
      if (received.status != TransferStatus::Done) return;
      answer(std::move(received.message));
    }
  }
  void send(const Message& message) {
    if (send_message(socket_, message, number_) != TransferStatus::Done) done_ = true;
  }

 private:
  void answer(Message question) {
    const std::string type = type_of(question);
    if (type == "hello") return send(to_message(Hello{}));
    if (type == "task") return take(understood(read_task_request(std::move(question))));
    if (!task_) throw EnvironmentError("invalid question: a task comes before its candidates");
    if (type == "run") {
      const RunRequest request = understood(read_run_request(std::move(question), task_->arguments()));
      return send_outcome([&] { return task_->run(request); });
    }
    if (type == "add_to_rounds") {
      const AddToRoundsRequest request =
          understood(read_add_to_rounds_request(std::move(question), task_->arguments()));
      return send_outcome([&] { return task_->add_to_rounds(request); });
    }
    if (type == "check_rounds") {
      understood(read_check_rounds_request(question));
      return send_outcome([&] { return task_->check_rounds(); });
    }
    const TimeInTurnRequest request = understood(read_time_in_turn_request(question));
    send_outcome([&] { return task_->time_in_turn(request); });
  }

  void take(TaskRequest request) {
    provide_stack();  // here, where the tuner waits for an answer
    const int64_t limit = request.memory_limit_bytes;
    task_.emplace(std::move(request));
    send(to_message(task_->ready()));
    limit_memory(limit);
  }

  template <typename Work>
  void send_outcome(const Work& work) {
    const auto outcome = blamed_on_the_candidate(work);
    send(outcome ? to_message(*outcome) : to_message(outcome.error()));
    done_ = done_ || (!outcome && outcome.error().device_lost);
  }

  const int socket_;
  std::optional<WorkerTask> task_;
  uint64_t number_ = 0;  // of the question
  bool done_ = false;
};

}  // namespace

int serve_measurements(int socket) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  signal(SIGINT, SIG_IGN);  // Ctrl-C is for the tuner, which lets the current candidate end
  install_fault_handlers();
  Server server(socket);
  try {
    server.serve();
  } catch (const Error& error) {
    server.send(to_message(ErrorReply{error.what(), dynamic_cast<const UserError*>(&error) != nullptr}));
    return 4;
  }
  return 0;
}

}  // namespace tunesmith
