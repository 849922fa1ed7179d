// Messages between the tuner and its worker: a JSON header and binary attachments, over a socket. What stands
// in them: messages/.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace tunesmith {

struct Message {
  nlohmann::json header;  // an object
  std::vector<std::string> attachments;
};

/// What a message may have at most. One that announces more is refused before anything of it is read.
struct MessageLimits {
  uint64_t header_bytes = 0;
  uint64_t attachments = 0;
  uint64_t attachment_bytes = 0;  // of all together
};

enum class TransferStatus {
  Done,
  Closed,  // the other side is gone
  TimedOut,
  Stopped,
  Nonsense  // what came is no message, or is beyond its limits
};

/// How long to wait: until `deadline` (for ever without one), or until somebody sets `stop`.
struct Patience {
  std::optional<std::chrono::steady_clock::time_point> deadline = std::nullopt;
  const std::atomic<bool>* stop = nullptr;
};

/// `number`: of the question; its answer has the same. Never Nonsense.
TransferStatus send_message(int socket, const Message& message, uint64_t number,
                            const Patience& patience = {});

struct Received {
  TransferStatus status = TransferStatus::Closed;
  Message message;
  uint64_t number = 0;
  std::string nonsense;  // what is wrong with it
};

/// Believes nothing that comes: memory grows with what has arrived, not with what was announced.
Received receive_message(int socket, const MessageLimits& limits, const Patience& patience = {});

}  // namespace tunesmith
