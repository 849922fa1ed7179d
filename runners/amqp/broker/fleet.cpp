#include "broker/fleet.h"

#include <algorithm>
#include <tuple>

#include <tunesmith/support/error.h>

namespace tunesmith::broker {

std::string job_queue(const std::string& identity) { return std::string(kJobs) + '.' + identity; }

void declare_jobs(Connection& connection, const std::string& identity) {
  connection.declare_exchange(kJobs, "topic");
  connection.declare_exchange(kDeadJobs, "topic");
  const std::string queue = connection.declare_queue(job_queue(identity), QueueKind::Jobs, kDeadJobs);
  connection.bind(queue, kJobs, identity + ".*");
}

void hear_roll_calls(Connection& connection, const std::string& consumer) {
  constexpr uint16_t kAny = 0;
  connection.declare_exchange(kRollCall, "fanout");
  const std::string queue = connection.declare_queue("tunesmith.hears." + make_id(), QueueKind::Own);
  connection.bind(queue, kRollCall, "");
  connection.consume(queue, consumer, kAny, true);
}

std::vector<WorkerDescription> call_the_roll(Connection& connection, std::chrono::milliseconds wait) {
  constexpr uint16_t kAny = 0;
  connection.declare_exchange(kRollCall, "fanout");
  const std::string asked = make_id();
  const std::string queue = connection.declare_queue(kRollCallAnswers + asked, QueueKind::Own);
  connection.consume(queue, asked, kAny, true);
  const Message question{"roll call", asked, queue, ""};
  std::vector<WorkerDescription> workers;
  if (!connection.publish(kRollCall, "", {&question, 1})) return workers;
  const auto until = std::chrono::steady_clock::now() + wait;
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0) break;
    const std::optional<Delivery> answer = connection.next(left);
    if (!answer) break;
    if (answer->message.correlation != asked || answer->too_large) continue;
    try {
      workers.push_back(parse_worker(answer->message.body));
    } catch (const UserError&) {
      continue;  // not from a worker
    }
  }
  connection.cancel(asked);
  std::ranges::sort(workers, {},
                    [](const WorkerDescription& worker) { return std::tie(worker.identity, worker.name); });
  return workers;
}

}  // namespace tunesmith::broker
