#include "tunesmith/measure/worker.h"

#include <optional>

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "measure/message.h"
#include "measure/worker_faults.h"
#include "measure/worker_task.h"
#include "tunesmith/support/error.h"

namespace tunesmith {

int serve_measurements(int socket) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  signal(SIGINT, SIG_IGN);  // a person's Ctrl-C is for the tuner, which lets the candidate under way end
  install_fault_handlers();
  std::optional<WorkerTask> task;
  Message message;
  try {
    while (receive_message(socket, message) == ReceiveStatus::Received) {
      const std::string type = message.header.at("type");
      Message answer;
      if (type == "task") {
        task.emplace(message);
        answer.header = {{"type", "ready"}, {"fills", task->fills()}};
        answer.attachments = task->reference_results();
        send_message(socket, answer);
        limit_memory(message.header.at("memory_limit_bytes"));
        continue;
      }
      check_invariant(task.has_value(), "a task comes before its candidates");
      answer.header = type == "run"             ? task->run(message)
                      : type == "add_to_rounds" ? task->add_to_rounds(message)
                                                : task->time_in_turn(message);
      send_message(socket, answer);
      if (answer.header.contains("device_lost")) return 0;
    }
  } catch (const Error& error) {
    Message last;
    const bool of_user = dynamic_cast<const UserError*>(&error) != nullptr;
    last.header = {{of_user ? "user_error" : "error", error.what()}};
    try {
      send_message(socket, last);
    } catch (const EnvironmentError&) {
      return 0;  // the tuner is gone, which is what went wrong
    }
    return 4;
  }
  return 0;
}

}  // namespace tunesmith
