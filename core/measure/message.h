// Messages between the tuner and its worker: a JSON header and binary attachments, over a socket.
#pragma once

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

enum class ReceiveStatus { Received, Closed, TimedOut };

/// Waits until `deadline` (for ever without one).
ReceiveStatus receive_message(int socket, Message& message,
                              std::optional<std::chrono::steady_clock::time_point> deadline = std::nullopt);

}  // namespace tunesmith
