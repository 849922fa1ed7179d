// A connection to a broker with AMQP 0-9-1, such as RabbitMQ. The broker confirms sent messages; a received
// message leaves the queue when it is acknowledged.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>

#include "broker/address.h"

struct amqp_frame_t_;

namespace tunesmith::broker {

/// The broker is unreachable, or closed the connection: the caller may try again.
class Lost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Larger messages are dropped on reading: no job and no answer is larger.
inline constexpr uint64_t kMaxMessageBytes = uint64_t{5} << 20;

struct Message {
  std::string type;
  std::string correlation;
  std::string reply_to;
  std::string body;
};

struct Delivery {
  Message message;
  uint64_t tag = 0;
  std::string consumer;
  uint64_t number = 0;     // its sender's number for it; 0: none
  bool dead = false;       // a dead letter: three consumers died of it
  bool too_large = false;  // its body was dropped
};

struct Queue {
  uint32_t messages = 0;  // messages that wait
  uint32_t consumers = 0;
};

/// The purpose of a queue.
enum class QueueKind : uint8_t {
  Jobs,     // replicated; a message that three consumers died of becomes a dead letter
  Answers,  // durable; deleted after a day without use
  Own       // exclusive to this connection
};

/// Not thread-safe. Functions throw Lost, and EnvironmentError if the broker refuses: wrong password, no
/// permission, a queue of another kind. After an exception the object must not be used.
class Connection {
 public:
  /// The broker lists the connection as `name`.
  Connection(const Address& address, const std::string& name);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// `type`: "topic", "fanout".
  void declare_exchange(const std::string& name, const std::string& type);
  /// `dead_letters`: the exchange for dead letters of Jobs. Returns the queue's name.
  std::string declare_queue(const std::string& name, QueueKind kind, const std::string& dead_letters = "");
  void bind(const std::string& queue, const std::string& exchange, const std::string& key);
  /// Nothing if the queue does not exist.
  std::optional<Queue> look_at(const std::string& queue);
  /// `at_once`: the maximum number of unacknowledged messages; 0: no limit. `consumer` is the name in
  /// Delivery::consumer.
  void consume(const std::string& queue, const std::string& consumer, uint16_t at_once, bool exclusive);
  void cancel(const std::string& consumer);

  /// Returns after the broker has the messages on disk. False if a message has no queue.
  bool publish(const std::string& exchange, const std::string& key, std::span<const Message> messages);
  /// Does not wait for the broker. Returns the message's number on this connection.
  uint64_t send(const std::string& exchange, const std::string& key, const Message& message);
  /// True if the broker has the sent message on disk, or has returned it because it has no queue.
  bool confirmed(uint64_t number) const { return !unconfirmed_.contains(number); }
  /// True once for a confirmed message that had no queue.
  bool take_unroutable(uint64_t number) { return unroutable_.erase(number) > 0; }
  /// The next message of any consumer.
  std::optional<Delivery> next(std::chrono::milliseconds wait);
  void acknowledge(uint64_t tag);
  /// For polling. Messages may already be in memory, so call next() first.
  int socket() const;
  /// Why the broker takes no messages now, such as "low on memory"; "" if it does.
  const std::string& blocked() const { return blocked_; }

 private:
  /// False: no frame came in time.
  bool read_frame(amqp_frame_t_& frame, std::chrono::milliseconds wait);
  /// Waits for a frame that must come.
  void read_frame(amqp_frame_t_& frame);
  void take(const amqp_frame_t_& frame);
  Delivery read_content();
  void require_reply(const std::string& what);

  const std::string where_;
  std::unique_ptr<void, void (*)(void*)> state_;
  std::deque<Delivery> inbox_;
  uint64_t sent_ = 0;  // number of messages so far
  std::set<uint64_t> unconfirmed_;
  std::set<uint64_t> unroutable_;  // which the broker returned, until somebody asks
  std::string blocked_;
};

}  // namespace tunesmith::broker
