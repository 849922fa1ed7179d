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

ReceiveStatus read_all(int socket, char* bytes, size_t size,
                       std::optional<std::chrono::steady_clock::time_point> deadline) {
  while (size > 0) {
    if (deadline) {
      const auto left =
          std::chrono::duration_cast<std::chrono::milliseconds>(*deadline - std::chrono::steady_clock::now());
      pollfd waiting{socket, POLLIN, 0};
      const int ready = poll(&waiting, 1, static_cast<int>(std::max<int64_t>(left.count(), 0)));
      if (ready < 0 && errno == EINTR) continue;
      if (ready == 0) return ReceiveStatus::TimedOut;
    }
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
  const std::string header = message.header.dump();
  std::vector<uint64_t> sizes{header.size(), message.attachments.size()};
  for (const std::string& attachment : message.attachments) sizes.push_back(attachment.size());
  write_all(socket, reinterpret_cast<const char*>(sizes.data()), sizes.size() * sizeof(uint64_t));
  write_all(socket, header.data(), header.size());
  for (const std::string& attachment : message.attachments)
    write_all(socket, attachment.data(), attachment.size());
}

ReceiveStatus receive_message(int socket, Message& message,
                              std::optional<std::chrono::steady_clock::time_point> deadline) {
  uint64_t fixed[2] = {0, 0};
  ReceiveStatus status = read_all(socket, reinterpret_cast<char*>(fixed), sizeof fixed, deadline);
  if (status != ReceiveStatus::Received) return status;
  std::vector<uint64_t> sizes(fixed[1]);
  status = read_all(socket, reinterpret_cast<char*>(sizes.data()), sizes.size() * sizeof(uint64_t), deadline);
  if (status != ReceiveStatus::Received) return status;
  std::string header(fixed[0], '\0');
  status = read_all(socket, header.data(), header.size(), deadline);
  message.attachments.clear();
  for (const uint64_t size : sizes) {
    if (status != ReceiveStatus::Received) return status;
    message.attachments.emplace_back(size, '\0');
    status = read_all(socket, message.attachments.back().data(), size, deadline);
  }
  if (status == ReceiveStatus::Received) message.header = nlohmann::json::parse(header);
  return status;
}

}  // namespace tunesmith
