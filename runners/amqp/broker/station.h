// The worker's end: receives jobs and answers them. A separate thread receives and answers while a job is
// measured.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "broker/connection.h"
#include "broker/prefetch.h"

namespace tunesmith::broker {

/// A message to answer.
struct Task {
  Delivery delivery;
  uint64_t connection = 0;                      // the number of the connection on which it came
  std::chrono::steady_clock::time_point begun;  // when it was taken
};

class Station {
 public:
  struct Options {
    std::string identity;
    std::function<std::string()> describe;        // the answer to roll calls; called by any thread
    std::function<void(const std::string&)> say;  // one line for a person; called by any thread
  };

  /// Connects. Throws Lost, and EnvironmentError if the broker refuses.
  Station(Address address, Options options);
  /// The broker delivers unanswered messages to other workers.
  ~Station();
  Station(const Station&) = delete;
  Station& operator=(const Station&) = delete;

  /// The next message, or nothing after `seconds`. At least one message is prefetched. Reconnects if the
  /// connection is lost.
  std::optional<Task> take(double seconds);
  /// Sends the answer, without waiting for it; the task is done when the broker has it. The answer is sent
  /// even if the task's connection was lost: the worker that has the task now would give the same.
  void answer(const Task& task, std::string type, std::string body);
  /// Stops taking messages from the broker.
  void drain();
  /// True if the station drains and all its messages are answered, or the broker stays away for ten seconds.
  bool drained() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Outgoing {
    Task task;
    Message message;
    Clock::time_point sent;
  };
  /// An eventfd.
  struct Wake {
    Wake();
    ~Wake();
    Wake(const Wake&) = delete;
    Wake& operator=(const Wake&) = delete;
    const int descriptor;
  };

  void run(std::unique_ptr<Connection> connection);
  std::unique_ptr<Connection> connect();
  std::unique_ptr<Connection> connect_again();
  bool gives_up(Clock::time_point since);
  void serve(Connection& connection);
  void receive(Connection& connection, Delivery delivery);
  bool send_answer(Connection& connection);
  void settle_confirmed(Connection& connection);
  void settle(Connection& connection, const Task& task);
  bool adjust_prefetch(Connection& connection);
  void wake();

  const Address address_;
  const Options options_;
  const Wake wake_;

  // Of the thread that receives and answers.
  std::map<uint64_t, Outgoing> unconfirmed_;  // sent answers, by their numbers on the current connection
  uint16_t at_once_ = 0;                      // the limit of unacknowledged messages; 0: takes none
  std::string consumer_;                      // takes the jobs, if at_once_ is not 0
  uint64_t consumers_ = 0;                    // the number of consumers so far
  Clock::time_point adjusted_;

  mutable std::mutex mutex_;  // of all below
  std::condition_variable arrived_;
  std::deque<Task> waiting_;
  std::deque<Outgoing> outgoing_;  // answers to send
  Prefetch prefetch_;
  size_t open_ = 0;          // number of messages taken and not answered
  uint64_t connection_ = 0;  // the number of the current connection
  std::optional<Clock::time_point> draining_since_;
  bool given_up_ = false;
  bool ended_ = false;
  std::thread thread_;  // last, since it uses the other members
};

}  // namespace tunesmith::broker
