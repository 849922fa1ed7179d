// The worker's end: jobs as they are delivered, and answers to them. Delivering and answering continue in a
// thread of their own while a job is measured.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "broker/connection.h"

namespace tunesmith::broker {

/// A message that is to be answered.
struct Task {
  Delivery delivery;
  uint64_t connection = 0;  // on which it came
};

class Station {
 public:
  struct Options {
    std::string identity;
    std::function<std::string()> describe;        // the answer to roll calls; called by any thread
    std::function<void(const std::string&)> say;  // one line for a person; called by any thread
  };

  /// Connects. Throws Lost, and EnvironmentError where the broker refuses.
  Station(Address address, Options options);
  /// What was not answered is delivered to others.
  ~Station();
  Station(const Station&) = delete;
  Station& operator=(const Station&) = delete;

  /// The next message, or nothing after `seconds`. One more than the current is there already. A connection
  /// that is lost is made again.
  std::optional<Task> take(double seconds);
  /// The task is done when the broker has the answer. The answer to what came on a connection that was lost
  /// is sent, too: whoever has the task now gives the same.
  void answer(const Task& task, std::string type, std::string body);
  /// Takes no more from the broker.
  void drain();
  /// It drains, and all that it had is answered.
  bool drained() const;

 private:
  struct Outgoing {
    Task task;
    Message message;
  };

  void run(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connect();
  std::unique_ptr<Connection> connect_again();
  void serve(Connection& connection);
  void receive(Connection& connection, Delivery delivery);
  bool send_answer(Connection& connection);
  void wake();

  const Address address_;
  const Options options_;
  const int wake_;  // an eventfd
  mutable std::mutex mutex_;
  std::condition_variable arrived_;
  std::deque<Task> waiting_;
  std::deque<Outgoing> outgoing_;
  size_t open_ = 0;          // taken and not answered
  uint64_t connection_ = 0;  // the number of the current one
  bool draining_ = false;
  bool ended_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace tunesmith::broker
