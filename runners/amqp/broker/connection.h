// A connection to a broker that speaks AMQP 0-9-1, as RabbitMQ does: what is sent is confirmed, what is
// received is taken when it was acknowledged.
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

/// The broker is not there now, or has closed the connection: who needs it tries again.
class Lost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What is beyond this is dropped when it is read: no job and no answer is larger.
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
  bool dead = false;       // a dead letter: nobody could take it
  bool too_large = false;  // its body was dropped
};

struct Queue {
  uint32_t messages = 0;  // that wait
  uint32_t consumers = 0;
};

/// Of a queue: what it is for.
enum class QueueKind : uint8_t {
  Jobs,     // replicated; a message that three consumers died of is a dead letter
  Answers,  // durable, and gone when nobody has used it for a day
  Own       // of this connection
};

/// Used by one thread. Functions throw Lost, and EnvironmentError where the broker refuses: another password,
/// no permission, a queue of another kind. It cannot be used after that.
class Connection {
 public:
  /// `name` is shown where the broker lists its connections.
  Connection(const Address& address, const std::string& name);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// `type`: "topic", "fanout".
  void declare_exchange(const std::string& name, const std::string& type);
  /// `dead_letters`: the exchange for those of Jobs. Answers the queue's name.
  std::string declare_queue(const std::string& name, QueueKind kind, const std::string& dead_letters = "");
  void bind(const std::string& queue, const std::string& exchange, const std::string& key);
  /// Nothing when there is no such queue.
  std::optional<Queue> look_at(const std::string& queue);
  /// `at_once`: unacknowledged messages; 0: any number. `consumer` names what comes of it.
  void consume(const std::string& queue, const std::string& consumer, uint16_t at_once, bool exclusive);
  void cancel(const std::string& consumer);

  /// Returns when the broker has them on disk. False: there is no queue for one of them.
  bool publish(const std::string& exchange, const std::string& key, std::span<const Message> messages);
  /// The next message of any consumer.
  std::optional<Delivery> next(std::chrono::milliseconds wait);
  void acknowledge(uint64_t tag);
  /// To poll for input. Some may be in memory already: next() first.
  int socket() const;

 private:
  void send(const std::string& exchange, const std::string& key, const Message& message);
  /// Nothing: none came in time.
  bool read_frame(amqp_frame_t_& frame, std::chrono::milliseconds wait);
  /// Waits for one that must come.
  void read_frame(amqp_frame_t_& frame);
  void take(const amqp_frame_t_& frame);
  Delivery read_content();
  void require_reply(const std::string& what);

  const std::string where_;
  std::unique_ptr<void, void (*)(void*)> state_;
  std::deque<Delivery> inbox_;
  uint64_t sent_ = 0;  // messages so far
  std::set<uint64_t> unconfirmed_;
  bool unroutable_ = false;
};

}  // namespace tunesmith::broker
