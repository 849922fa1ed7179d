// Messages between the tuner and its worker: a JSON header and binary attachments, over a socket.
#pragma once

#include <atomic>
#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace tunesmith {

struct Message {
  nlohmann::json header;
  std::vector<std::string> attachments;
};

/// Throws EnvironmentError when the other side is gone.
void send_message(int socket, const Message& message);

enum class ReceiveStatus { Received, Closed, TimedOut, Stopped };

/// How long to wait: until `deadline` (for ever without one), or until somebody sets `stop`.
struct Patience {
  std::optional<std::chrono::steady_clock::time_point> deadline = std::nullopt;
  const std::atomic<bool>* stop = nullptr;
};

/// Throws EnvironmentError when what comes is no message.
ReceiveStatus receive_message(int socket, Message& message, const Patience& patience = {});

}  // namespace tunesmith
