#include "measure/message.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

constexpr uint64_t kMostHeaderBytes = uint64_t{1} << 30;
constexpr uint64_t kMostAttachments = 1 << 16;
constexpr uint64_t kMostAttachmentBytes = uint64_t{1} << 40;

EnvironmentError nonsense() {
  return EnvironmentError("what came through the worker's socket is no message");
}

void write_all(int socket, const char* bytes, size_t size) {
  while (size > 0) {
    const ssize_t written = send(socket, bytes, size, MSG_NOSIGNAL);
    if (written < 0) {
      if (errno == EINTR) continue;
      throw EnvironmentError(std::string("the worker cannot be reached: ") + std::strerror(errno));
    }
    bytes += written;
    size -= static_cast<size_t>(written);
  }
}

/// Waits for bytes to read; Received when there are some.
ReceiveStatus wait_for(int socket, const Patience& patience) {
  constexpr int kSlice = 100;  // milliseconds between two looks at the stop flag
  while (patience.deadline || patience.stop != nullptr) {
    if (patience.stop != nullptr && patience.stop->load()) return ReceiveStatus::Stopped;
    int64_t left = kSlice;
    if (patience.deadline) {
      const auto until = *patience.deadline - std::chrono::steady_clock::now();
      left = std::chrono::duration_cast<std::chrono::milliseconds>(until).count();
      if (left < 0) return ReceiveStatus::TimedOut;
    }
    pollfd waiting{socket, POLLIN, 0};
    if (poll(&waiting, 1, static_cast<int>(std::min<int64_t>(left + 1, kSlice))) > 0) break;
  }
  return ReceiveStatus::Received;
}

ReceiveStatus read_all(int socket, char* bytes, size_t size, const Patience& patience) {
  while (size > 0) {
    if (const ReceiveStatus status = wait_for(socket, patience); status != ReceiveStatus::Received)
      return status;
    const ssize_t got = recv(socket, bytes, size, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return ReceiveStatus::Closed;
    bytes += got;
    size -= static_cast<size_t>(got);
  }
  return ReceiveStatus::Received;
}

}  // namespace

void send_message(int socket, const Message& message) {
  // Messages of plugins are text only if their authors kept to it.
  const std::string header = message.header.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  std::vector<uint64_t> sizes{header.size(), message.attachments.size()};
  for (const std::string& attachment : message.attachments) sizes.push_back(attachment.size());
  write_all(socket, reinterpret_cast<const char*>(sizes.data()), sizes.size() * sizeof(uint64_t));
  write_all(socket, header.data(), header.size());
  for (const std::string& attachment : message.attachments)
    write_all(socket, attachment.data(), attachment.size());
}

ReceiveStatus receive_message(int socket, Message& message, const Patience& patience) {
  uint64_t fixed[2] = {0, 0};
  ReceiveStatus status = read_all(socket, reinterpret_cast<char*>(fixed), sizeof fixed, patience);
  if (status != ReceiveStatus::Received) return status;
  // A candidate may write anything anywhere.
  if (fixed[0] > kMostHeaderBytes || fixed[1] > kMostAttachments) throw nonsense();
  std::vector<uint64_t> sizes(fixed[1]);
  status = read_all(socket, reinterpret_cast<char*>(sizes.data()), sizes.size() * sizeof(uint64_t), patience);
  if (status != ReceiveStatus::Received) return status;
  std::string header(fixed[0], '\0');
  status = read_all(socket, header.data(), header.size(), patience);
  message.attachments.clear();
  for (const uint64_t size : sizes) {
    if (size > kMostAttachmentBytes) throw nonsense();
    if (status != ReceiveStatus::Received) return status;
    message.attachments.emplace_back(size, '\0');
    status = read_all(socket, message.attachments.back().data(), size, patience);
  }
  if (status != ReceiveStatus::Received) return status;
  message.header = nlohmann::json::parse(header, nullptr, false);
  if (!message.header.is_object()) throw nonsense();
  return status;
}

}  // namespace tunesmith
