// Bytes as they come through a worker's socket.
#pragma once

#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include <sys/socket.h>
#include <unistd.h>

#include "messages/message.h"

namespace tunesmith::test {

/// A connection; the destructor closes both ends.
class SocketPair {
 public:
  SocketPair() {
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_) != 0) throw std::bad_alloc();
  }
  ~SocketPair() {
    close(ends_[0]);
    if (ends_[1] >= 0) close(ends_[1]);
  }
  SocketPair(const SocketPair&) = delete;
  SocketPair& operator=(const SocketPair&) = delete;

  int ours() const { return ends_[0]; }
  int theirs() const { return ends_[1]; }
  void close_theirs() {
    close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  int ends_[2] = {-1, -1};
};

/// Receives `bytes` from a peer that then disconnects.
inline Received receive_bytes(const std::string& bytes, const MessageLimits& limits) {
  SocketPair sockets;
  const auto send_all = [&] {
    for (size_t sent = 0; sent < bytes.size();) {
      const ssize_t done = send(sockets.theirs(), bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      if (done <= 0) break;
      sent += static_cast<size_t>(done);
    }
    shutdown(sockets.theirs(), SHUT_WR);
  };
  constexpr size_t kHeld = size_t{1} << 14;  // a socket buffers at least this much
  if (bytes.size() <= kHeld) {
    send_all();
    return receive_message(sockets.ours(), limits);
  }
  std::thread sender(send_all);
  Received received = receive_message(sockets.ours(), limits);
  shutdown(sockets.ours(), SHUT_RDWR);  // ends the sender
  sender.join();
  return received;
}

/// Sizes, header and attachments, as send_message() writes them.
inline std::string frame(const std::string& header, const std::vector<std::string>& attachments = {},
                         uint64_t number = 1) {
  std::string bytes;
  const auto put = [&](uint64_t value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof value); };
  put(number);
  put(header.size());
  put(attachments.size());
  for (const std::string& attachment : attachments) put(attachment.size());
  bytes += header;
  for (const std::string& attachment : attachments) bytes += attachment;
  return bytes;
}

/// The bytes of a seed: a line that begins with a brace is a header, and each line after it an attachment.
/// Any other text is taken unchanged.
inline std::string frame_of_seed(const std::string& seed) {
  if (!seed.starts_with('{')) return seed;
  std::vector<std::string> lines(1);
  for (const char character : seed) {
    if (character == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += character;
    }
  }
  if (lines.back().empty()) lines.pop_back();
  const std::string header = lines.front();
  lines.erase(lines.begin());
  return frame(header, lines);
}

}  // namespace tunesmith::test
