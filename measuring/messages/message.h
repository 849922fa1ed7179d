// Messages between the tuner and its worker over a socket: a JSON
// header and binary attachments. messages/ has their contents.
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

/// The limits of a message. One that announces more is refused before anything is read.
struct MessageLimits {
  uint64_t header_bytes = 0;
  uint64_t attachments = 0;
  uint64_t attachment_bytes = 0;  // of all attachments together
};

enum class TransferStatus {
  Done,
  Closed,  // the peer closed the socket
  TimedOut,
  Stopped,
  Nonsense  // no valid message, or one beyond its limits
};

/// The end of a wait: `deadline` (none: never), or when `stop` is set.
struct Patience {
  std::optional<std::chrono::steady_clock::time_point> deadline = std::nullopt;
  const std::atomic<bool>* stop = nullptr;
};

/// `number`: of the question; the answer repeats it. Never returns Nonsense.
TransferStatus send_message(int socket, const Message& message, uint64_t number,
                            const Patience& patience = {});

struct Received {
  TransferStatus status = TransferStatus::Closed;
  Message message;
  uint64_t number = 0;
  std::string nonsense;  // the problem
};

/// Reads untrusted data: memory grows with received data, not with announced sizes.
Received receive_message(int socket, const MessageLimits& limits, const Patience& patience = {});

}  // namespace tunesmith
