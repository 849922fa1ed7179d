// Bytes from a worker's socket are a message, or are refused with a reason and little memory.
#include "messages/message.h"

#include <chrono>
#include <cstring>
#include <limits>
#include <string>
#include <thread>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "every_message.h"
#include "message_bytes.h"
#include "messages/limits.h"

namespace tunesmith {
namespace {

using test::every_message;
using test::frame;
using test::receive_bytes;
using testing::HasSubstr;

constexpr uint64_t kHuge = std::numeric_limits<uint64_t>::max();

/// The first words of a message, followed by `then`.
std::string words(std::vector<uint64_t> values, const std::string& then = "") {
  return {std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(uint64_t)) + then};
}

std::string nonsense(const std::string& bytes, const MessageLimits& limits = kPlainAnswer) {
  const Received received = receive_bytes(bytes, limits);
  EXPECT_EQ(received.status, TransferStatus::Nonsense);
  return received.nonsense;
}

TEST(Message, ComesAsItWasSent) {
  for (const test::ReadMessage& one : every_message()) {
    const test::SocketPair sockets;
    ASSERT_EQ(send_message(sockets.theirs(), one.example, 7), TransferStatus::Done);
    const Received received = receive_message(sockets.ours(), kQuestion);
    ASSERT_EQ(received.status, TransferStatus::Done) << one.name << ": " << received.nonsense;
    EXPECT_EQ(received.number, 7u);
    EXPECT_EQ(received.message.header, one.example.header);
    EXPECT_EQ(received.message.attachments, one.example.attachments);
    EXPECT_EQ(one.read(received.message), "");
  }
}

TEST(Message, CutOffAnywhereIsNone) {
  const std::string whole = frame(R"({"type":"ready"})", {"first", "second"});
  for (size_t size = 0; size < whole.size(); ++size)
    EXPECT_EQ(receive_bytes(whole.substr(0, size), kQuestion).status, TransferStatus::Closed) << size;
  EXPECT_EQ(receive_bytes(whole, kQuestion).status, TransferStatus::Done);
}

TEST(Message, AnnouncedSizesAreHeldAgainstTheLimits) {
  EXPECT_THAT(nonsense(words({1, kHuge, 0})), HasSubstr("header has 18446744073709551615 bytes, at most"));
  EXPECT_THAT(nonsense(words({1, kPlainAnswer.header_bytes + 1, 0})), HasSubstr("header has"));
  EXPECT_THAT(nonsense(words({1, 2, 1})), HasSubstr("has 1 attachments, at most 0"));
  EXPECT_THAT(nonsense(words({1, 2, kHuge}), kQuestion), HasSubstr("attachments, at most"));
  // The sum of two sizes may overflow.
  EXPECT_THAT(nonsense(words({1, 2, 2, uint64_t{1} << 63, uint64_t{1} << 63}), kQuestion),
              HasSubstr("more than 1099511627776 bytes"));
  EXPECT_THAT(nonsense(words({1, 2, 2, 3, 4}), {10, 2, 6}), HasSubstr("more than 6 bytes"));
}

/// Announces half a terabyte, which no machine could allocate.
TEST(Message, MemoryGrowsWithWhatHasArrived) {
  const std::string bytes = words({1, 2, 1, uint64_t{1} << 39}, "{}some bytes");
  EXPECT_EQ(receive_bytes(bytes, kQuestion).status, TransferStatus::Closed);
  const Received header = receive_bytes(words({1, kPlainAnswer.header_bytes, 0}, "{"), kPlainAnswer);
  EXPECT_EQ(header.status, TransferStatus::Closed);
}

TEST(Message, AHeaderIsAShallowJsonObject) {
  for (const std::string& header : std::vector<std::string>{
           "", "{", "[]", "1", "null", "\"text\"", "{} {}", R"({"samples":[NaN]})", R"({"samples":[1e999]})",
           R"({"message":")"
           "\xff\xfe"
           R"("})",
           R"({"message":"\ud800"})", std::string(100, '\0')})
    EXPECT_EQ(nonsense(frame(header)), "its header is no JSON object") << header;
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_EQ(nonsense(frame(R"({"samples":)" + deep + "}")), "its header is nested more than 16 deep");
  EXPECT_EQ(nonsense(frame(R"({"samples":)" + std::string(100'000, '['))),
            "its header is nested more than 16 deep");
}

TEST(Message, WhatIsNoTextIsSentAsText) {
  const test::SocketPair sockets;
  const Message message = to_message(FailureReply{FailureCause::Crash, "bad \xff byte", false});
  ASSERT_EQ(send_message(sockets.theirs(), message, 1), TransferStatus::Done);
  const Received received = receive_message(sockets.ours(), kPlainAnswer);
  ASSERT_EQ(received.status, TransferStatus::Done);
  EXPECT_EQ(read_failure_reply(received.message)->message, "bad \xef\xbf\xbd byte");
}

/// A worker may be stopped, or busy forever.
TEST(Message, WhoNeverReadsOrWritesHoldsUpNobody) {
  const test::SocketPair sockets;
  const auto soon = [] { return std::chrono::steady_clock::now() + std::chrono::milliseconds(200); };
  const Message large{nlohmann::json::object(), {std::string(size_t{64} << 20, 'x')}};
  EXPECT_EQ(send_message(sockets.ours(), large, 1, {soon()}), TransferStatus::TimedOut);
  EXPECT_EQ(receive_message(sockets.ours(), kPlainAnswer, {soon()}).status, TransferStatus::TimedOut);
  std::atomic<bool> stop = true;
  EXPECT_EQ(send_message(sockets.ours(), large, 1, {std::nullopt, &stop}), TransferStatus::Stopped);
  EXPECT_EQ(receive_message(sockets.ours(), kPlainAnswer, {std::nullopt, &stop}).status,
            TransferStatus::Stopped);
}

TEST(Message, WhoIsGoneIsNoError) {
  test::SocketPair sockets;
  sockets.close_theirs();
  const Message message{nlohmann::json::object(), {}};
  EXPECT_EQ(send_message(sockets.ours(), message, 1), TransferStatus::Closed);
  EXPECT_EQ(receive_message(sockets.ours(), kPlainAnswer).status, TransferStatus::Closed);
}

}  // namespace
}  // namespace tunesmith
