// The tuner's end: questions to whoever has an identity, and the answers, whatever becomes of the connection
// meanwhile.
#pragma once

#include <atomic>
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
  std::string correlation;  // of its content: equal questions have one answer
};

struct Reply {
  std::string body;
  bool dead = false;  // three workers died of it; the body is the question's
};

/// Used by one thread.
class Post {
 public:
  struct Options {
    std::string identity;
    std::string owner;                                 // RunnerTask::owner
    const std::atomic<bool>* stop = nullptr;           // null: nothing does
    std::function<void(const std::string&)> say = {};  // null: nobody listens
    /// Why a reply is no answer to the question, or "".
    std::function<std::string(const Question&, const Reply&)> fault;
  };

  explicit Post(Address address) : address_(std::move(address)) {}

  /// A reply to each, in order; nothing where a stop came first. Answers of the ask before are only taken off
  /// the broker now, when they are on record. Throws EnvironmentError where the broker refuses.
  std::vector<std::optional<Reply>> ask(std::span<const Question> questions, const Options& options);

 private:
  class Asking;
  struct Kept {
    Reply reply;
    uint64_t tag = 0;
  };

  void connect(const Options& options);
  /// Of the answer queue that this process has alone.
  void take_answers(const Options& options);
  void keep(Delivery delivery);

  const Address address_;
  std::unique_ptr<Connection> connection_;
  std::string key_;                   // of the owner: its answers' queue
  std::map<std::string, Kept> kept_;  // by correlation: answers that nobody has asked for yet
  std::vector<uint64_t> taken_;       // to be acknowledged
};

}  // namespace tunesmith::broker
