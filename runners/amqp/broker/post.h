// The tuner's end: sends questions to the workers of an identity and receives answers, across lost
// connections.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "broker/connection.h"

namespace tunesmith::broker {

struct Question {
  std::string type;  // "job", "turns"
  std::string body;
  std::string correlation;  // a hash of the content: equal questions share one answer
};

struct Reply {
  std::string body;
  bool dead = false;  // three workers died of it; the body is the question's
};

/// Not thread-safe.
class Post {
 public:
  struct Options {
    std::string identity;
    std::string owner;                                 // RunnerTask::owner
    const std::atomic<bool>* stop = nullptr;           // null: the call is never stopped
    std::function<void(const std::string&)> say = {};  // null: messages are dropped
    /// Says why a reply is no valid answer to the question; "" if it is valid.
    std::function<std::string(const Question&, const Reply&)> fault;
    std::chrono::seconds resend{300};  // without an answer and with an empty queue, questions are sent again
  };

  explicit Post(Address address) : address_(std::move(address)) {}

  /// The replies, in the order of the questions; nothing for questions that a stop left open. Only the next
  /// call acknowledges the answers, when they are on record. Throws EnvironmentError if the broker refuses.
  std::vector<std::optional<Reply>> ask(std::span<const Question> questions, const Options& options);

 private:
  class Asking;
  struct Kept {
    Reply reply;
    uint64_t tag = 0;
  };

  void connect(const Options& options);
  /// Takes from an answer queue that no other process uses.
  void take_answers(const Options& options);
  void keep(Delivery delivery);

  const Address address_;
  std::unique_ptr<Connection> connection_;
  std::string key_;                   // identifies the owner's answer queue
  std::map<std::string, Kept> kept_;  // by correlation: answers that nobody has asked for yet
  std::vector<uint64_t> taken_;       // tags to acknowledge
};

}  // namespace tunesmith::broker
