#include "messages/message.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>

#include "tunesmith/schema/json_text.h"

namespace tunesmith {
namespace {

constexpr uint64_t kPieceBytes = uint64_t{1} << 18;  // about the size of a socket's buffer

/// Number, bytes of the header, number of attachments. Their sizes follow, then header and attachments.
using Frame = std::array<uint64_t, 3>;

/// Waits until the socket can be read or written (`events`); Done when it can.
TransferStatus wait_for(int socket, short events, const Patience& patience) {
  constexpr int kSlice = 100;  // milliseconds between two looks at the stop flag
  while (patience.deadline || patience.stop != nullptr) {
    if (patience.stop != nullptr && patience.stop->load()) return TransferStatus::Stopped;
    int64_t left = kSlice;
    if (patience.deadline) {
      const auto until = *patience.deadline - std::chrono::steady_clock::now();
      left = std::chrono::duration_cast<std::chrono::milliseconds>(until).count();
      if (left < 0) return TransferStatus::TimedOut;
    }
    pollfd waiting{socket, events, 0};
    if (poll(&waiting, 1, static_cast<int>(std::min<int64_t>(left + 1, kSlice))) > 0) break;
  }
  return TransferStatus::Done;
}

TransferStatus write_all(int socket, const char* bytes, size_t size, const Patience& patience) {
  // A peer that does not read must not block beyond the deadline.
  const int flags = MSG_NOSIGNAL | (patience.deadline || patience.stop != nullptr ? MSG_DONTWAIT : 0);
  while (size > 0) {
    if (const TransferStatus status = wait_for(socket, POLLOUT, patience); status != TransferStatus::Done)
      return status;
    const ssize_t written = send(socket, bytes, size, flags);
    if (written < 0) {
      if (errno == EINTR || errno == EAGAIN) continue;
      return TransferStatus::Closed;
    }
    bytes += written;
    size -= static_cast<size_t>(written);
  }
  return TransferStatus::Done;
}

/// Appends `size` bytes, piece by piece as they come.
TransferStatus read_onto(std::string& into, int socket, uint64_t size, const Patience& patience) {
  while (size > 0) {
    if (const TransferStatus status = wait_for(socket, POLLIN, patience); status != TransferStatus::Done)
      return status;
    const size_t before = into.size();
    into.resize(before + std::min(size, kPieceBytes));
    const ssize_t got = recv(socket, into.data() + before, into.size() - before, 0);
    into.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return TransferStatus::Closed;
    size -= static_cast<uint64_t>(got);
  }
  return TransferStatus::Done;
}

/// Why these attachments are too many bytes, or "".
std::string beyond(const std::vector<uint64_t>& sizes, uint64_t limit) {
  uint64_t left = limit;
  for (const uint64_t size : sizes) {
    if (size > left) return fmt::format("its attachments have more than {} bytes", limit);
    left -= size;
  }
  return "";
}

}  // namespace

TransferStatus send_message(int socket, const Message& message, uint64_t number, const Patience& patience) {
  const std::string header = canonical_text(message.header);
  std::vector<uint64_t> sizes{number, header.size(), message.attachments.size()};
  for (const std::string& attachment : message.attachments) sizes.push_back(attachment.size());
  TransferStatus status = write_all(socket, reinterpret_cast<const char*>(sizes.data()),
                                    sizes.size() * sizeof(uint64_t), patience);
  if (status == TransferStatus::Done) status = write_all(socket, header.data(), header.size(), patience);
  for (const std::string& attachment : message.attachments) {
    if (status != TransferStatus::Done) break;
    status = write_all(socket, attachment.data(), attachment.size(), patience);
  }
  return status;
}

Received receive_message(int socket, const MessageLimits& limits, const Patience& patience) {
  Received received;
  const auto nonsense = [&](std::string what) {
    received.status = TransferStatus::Nonsense;
    received.nonsense = std::move(what);
    return std::move(received);
  };
  const auto read = [&](std::string& into, uint64_t size) {
    received.status = read_onto(into, socket, size, patience);
    return received.status == TransferStatus::Done;
  };
  Frame frame{};
  std::string bytes;
  if (!read(bytes, sizeof frame)) return received;
  std::memcpy(frame.data(), bytes.data(), sizeof frame);
  const auto [number, header_bytes, attachments] = frame;
  received.number = number;
  if (header_bytes > limits.header_bytes)
    return nonsense(
        fmt::format("its header has {} bytes, at most {} are allowed", header_bytes, limits.header_bytes));
  if (attachments > limits.attachments)
    return nonsense(
        fmt::format("it has {} attachments, at most {} are allowed", attachments, limits.attachments));

  bytes.clear();
  if (!read(bytes, attachments * sizeof(uint64_t))) return received;
  std::vector<uint64_t> sizes(attachments);
  if (attachments > 0) std::memcpy(sizes.data(), bytes.data(), bytes.size());
  if (std::string why = beyond(sizes, limits.attachment_bytes); !why.empty()) return nonsense(std::move(why));
  bytes.clear();
  if (!read(bytes, header_bytes)) return received;
  for (const uint64_t size : sizes) {
    if (!read(received.message.attachments.emplace_back(), size)) return received;
  }
  tl::expected<nlohmann::json, std::string> header = parse_object(bytes);
  if (!header) return nonsense("its header " + header.error());
  received.message.header = *std::move(header);
  received.status = TransferStatus::Done;
  return received;
}

}  // namespace tunesmith
