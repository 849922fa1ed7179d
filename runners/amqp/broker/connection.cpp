#include "broker/connection.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include <amqp.h>
#include <amqp_ssl_socket.h>
#include <amqp_tcp_socket.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <tunesmith/support/error.h>

namespace tunesmith::broker {
namespace {

constexpr amqp_channel_t kChannel = 1;
constexpr amqp_channel_t kLooking = 2;  // the broker closes this channel if a queue does not exist
constexpr timeval kConnectTime = {10, 0};
constexpr timeval kPatience = {60, 0};  // for an answer that must come
constexpr int kAliveSeconds = 60;

amqp_connection_state_t state_of(void* state) { return static_cast<amqp_connection_state_t>(state); }

amqp_bytes_t bytes_of(const std::string& text) {
  return {text.size(), const_cast<char*>(text.data())};  // NOLINT: the library only reads it
}

std::string text_of(const amqp_bytes_t& bytes) { return {static_cast<const char*>(bytes.bytes), bytes.len}; }

amqp_table_entry_t entry(const char* key, int64_t value) {
  amqp_table_entry_t made{};
  made.key = amqp_cstring_bytes(key);
  made.value.kind = AMQP_FIELD_KIND_I64;
  made.value.value.i64 = value;
  return made;
}

amqp_table_entry_t entry(const char* key, const std::string& value) {
  amqp_table_entry_t made{};
  made.key = amqp_cstring_bytes(key);
  made.value.kind = AMQP_FIELD_KIND_UTF8;
  made.value.value.bytes = bytes_of(value);
  return made;
}

amqp_table_entry_t entry(const char* key, const amqp_table_t& value) {
  amqp_table_entry_t made{};
  made.key = amqp_cstring_bytes(key);
  made.value.kind = AMQP_FIELD_KIND_TABLE;
  made.value.value.table = value;
  return made;
}

amqp_table_entry_t able(const char* key) {
  amqp_table_entry_t made{};
  made.key = amqp_cstring_bytes(key);
  made.value.kind = AMQP_FIELD_KIND_BOOLEAN;
  made.value.value.boolean = 1;
  return made;
}

/// Why the broker closed a channel or a connection.
std::string reason_of(const amqp_method_t& method) {
  if (method.id == AMQP_CHANNEL_CLOSE_METHOD)
    return text_of(static_cast<const amqp_channel_close_t*>(method.decoded)->reply_text);
  if (method.id == AMQP_CONNECTION_CLOSE_METHOD)
    return text_of(static_cast<const amqp_connection_close_t*>(method.decoded)->reply_text);
  return fmt::format("it answered {}", amqp_method_name(method.id));
}

/// Detects within minutes a peer that is gone without closing the connection.
void keep_alive(int socket) {
  constexpr int kOn = 1;
  constexpr unsigned kMilliseconds = 1000U * kAliveSeconds;
  setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &kOn, sizeof(kOn));
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &kAliveSeconds, sizeof(kAliveSeconds));
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &kAliveSeconds, sizeof(kAliveSeconds));
  setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &kMilliseconds, sizeof(kMilliseconds));
}

void destroy(void* state) { amqp_destroy_connection(state_of(state)); }

amqp_socket_t* socket_for(const Address& address, amqp_connection_state_t state) {
  if (!address.tls) return amqp_tcp_socket_new(state);
  amqp_socket_t* const socket = amqp_ssl_socket_new(state);
  if (socket == nullptr) return nullptr;
  constexpr const char* kAuthorities = "/etc/ssl/certs/ca-certificates.crt";
  const char* const own = std::getenv("TUNESMITH_BROKER_CA");
  const char* const file = own != nullptr ? own : kAuthorities;
  if (amqp_ssl_socket_set_cacert(socket, file) != AMQP_STATUS_OK)
    throw EnvironmentError(
        fmt::format("{} holds no certificates to check the broker's by; remedy: name a "
                    "file in TUNESMITH_BROKER_CA",
                    file));
  amqp_ssl_socket_set_verify_peer(socket, 1);
  amqp_ssl_socket_set_verify_hostname(socket, 1);
  amqp_ssl_socket_set_ssl_versions(socket, AMQP_TLSv1_2, AMQP_TLSvLATEST);
  return socket;
}

}  // namespace

Connection::Connection(const Address& address, const std::string& name)
    : where_(address.str()), state_(amqp_new_connection(), &destroy) {
  const amqp_connection_state_t state = state_of(state_.get());
  amqp_socket_t* const socket = socket_for(address, state);
  if (socket == nullptr) throw EnvironmentError("no memory for a connection to the broker");
  const int opened = amqp_socket_open_noblock(socket, address.host.c_str(), address.port, &kConnectTime);
  if (opened == AMQP_STATUS_SSL_PEER_VERIFY_FAILED || opened == AMQP_STATUS_SSL_HOSTNAME_VERIFY_FAILED)
    throw EnvironmentError(
        fmt::format("{}: its certificate is not trusted here: {}; remedy: name its "
                    "authority's file in TUNESMITH_BROKER_CA",
                    where_, amqp_error_string2(opened)));
  if (opened != AMQP_STATUS_OK) throw Lost(fmt::format("{}: {}", where_, amqp_error_string2(opened)));
  keep_alive(amqp_get_sockfd(state));
  amqp_set_rpc_timeout(state, &kPatience);
  // The broker reports that a queue was deleted, and that it takes no messages.
  std::array capabilities = {able("consumer_cancel_notify"), able("connection.blocked")};
  std::array properties = {
      entry("product", "tunesmith"), entry("connection_name", name),
      entry("capabilities", amqp_table_t{static_cast<int>(capabilities.size()), capabilities.data()})};
  const amqp_table_t table{static_cast<int>(properties.size()), properties.data()};
  constexpr int kAnyChannels = 0;
  constexpr int kFrameBytes = 131072;
  constexpr int kNoHeartbeat = 0;  // a measuring thread cannot answer them; see keep_alive()
  const amqp_rpc_reply_t reply = amqp_login_with_properties(
      state, address.virtual_host.c_str(), kAnyChannels, kFrameBytes, kNoHeartbeat, &table,
      AMQP_SASL_METHOD_PLAIN, address.user.c_str(), address.password.c_str());
  if (reply.reply_type == AMQP_RESPONSE_SERVER_EXCEPTION)
    throw EnvironmentError(
        fmt::format("{} refuses the login: {}; remedy: check user, password and virtual host", where_,
                    reason_of(reply.reply)));
  if (reply.reply_type != AMQP_RESPONSE_NORMAL)
    throw Lost(fmt::format("{}: {}", where_, amqp_error_string2(reply.library_error)));
  amqp_channel_open(state, kChannel);
  require_reply("opening a channel");
  amqp_confirm_select(state, kChannel);
  require_reply("confirming what is sent");
}

Connection::~Connection() = default;

void Connection::require_reply(const std::string& what) {
  const amqp_rpc_reply_t reply = amqp_get_rpc_reply(state_of(state_.get()));
  if (reply.reply_type == AMQP_RESPONSE_NORMAL) return;
  if (reply.reply_type == AMQP_RESPONSE_SERVER_EXCEPTION && reply.reply.id == AMQP_CHANNEL_CLOSE_METHOD)
    throw EnvironmentError(fmt::format("{} refuses {}: {}", where_, what, reason_of(reply.reply)));
  throw Lost(fmt::format("{}: {}: {}", where_, what,
                         reply.reply_type == AMQP_RESPONSE_SERVER_EXCEPTION
                             ? reason_of(reply.reply)
                             : amqp_error_string2(reply.library_error)));
}

void Connection::declare_exchange(const std::string& name, const std::string& type) {
  amqp_exchange_declare(state_of(state_.get()), kChannel, bytes_of(name), bytes_of(type), 0, 1, 0, 0,
                        amqp_empty_table);
  require_reply(fmt::format("the exchange '{}'", name));
}

std::string Connection::declare_queue(const std::string& name, QueueKind kind,
                                      const std::string& dead_letters) {
  constexpr int64_t kDeaths = 3;  // x-delivery-limit does not count the first delivery
  constexpr int64_t kDay = 86'400'000;
  static const std::string kQuorum = "quorum";
  std::array jobs = {entry("x-queue-type", kQuorum), entry("x-delivery-limit", kDeaths - 1),
                     entry("x-dead-letter-exchange", dead_letters)};
  std::array answers = {entry("x-expires", kDay)};
  amqp_table_t table = amqp_empty_table;
  if (kind == QueueKind::Jobs) table = {static_cast<int>(jobs.size()), jobs.data()};
  if (kind == QueueKind::Answers) table = {static_cast<int>(answers.size()), answers.data()};
  const bool own = kind == QueueKind::Own;
  const amqp_queue_declare_ok_t* const declared = amqp_queue_declare(
      state_of(state_.get()), kChannel, bytes_of(name), 0, own ? 0 : 1, own ? 1 : 0, own ? 1 : 0, table);
  require_reply(fmt::format("the queue '{}'", name));
  return text_of(declared->queue);
}

void Connection::bind(const std::string& queue, const std::string& exchange, const std::string& key) {
  amqp_queue_bind(state_of(state_.get()), kChannel, bytes_of(queue), bytes_of(exchange), bytes_of(key),
                  amqp_empty_table);
  require_reply(fmt::format("binding '{}' to '{}'", queue, exchange));
}

std::optional<Queue> Connection::look_at(const std::string& queue) {
  const amqp_connection_state_t state = state_of(state_.get());
  amqp_channel_open(state, kLooking);
  require_reply("opening a channel");
  const amqp_queue_declare_ok_t* const declared =
      amqp_queue_declare(state, kLooking, bytes_of(queue), 1, 0, 0, 0, amqp_empty_table);
  const amqp_rpc_reply_t reply = amqp_get_rpc_reply(state);
  if (declared == nullptr && reply.reply_type == AMQP_RESPONSE_SERVER_EXCEPTION &&
      reply.reply.id == AMQP_CHANNEL_CLOSE_METHOD) {
    const amqp_channel_close_t& close = *static_cast<const amqp_channel_close_t*>(reply.reply.decoded);
    amqp_channel_close_ok_t ok{};
    amqp_send_method(state, kLooking, AMQP_CHANNEL_CLOSE_OK_METHOD, &ok);
    if (close.reply_code == AMQP_NOT_FOUND) return std::nullopt;
    throw EnvironmentError(
        fmt::format("{} does not show the queue '{}': {}", where_, queue, text_of(close.reply_text)));
  }
  require_reply("looking at a queue");
  const Queue seen{declared->message_count, declared->consumer_count};
  amqp_channel_close(state, kLooking, AMQP_REPLY_SUCCESS);
  return seen;
}

void Connection::consume(const std::string& queue, const std::string& consumer, uint16_t at_once,
                         bool exclusive) {
  const amqp_connection_state_t state = state_of(state_.get());
  amqp_basic_qos(state, kChannel, 0, at_once, 0);
  require_reply("a limit of messages");
  amqp_basic_consume(state, kChannel, bytes_of(queue), bytes_of(consumer), 0, 0, exclusive ? 1 : 0,
                     amqp_empty_table);
  require_reply(fmt::format("taking from '{}'", queue));
}

void Connection::cancel(const std::string& consumer) {
  amqp_basic_cancel(state_of(state_.get()), kChannel, bytes_of(consumer));
  require_reply("taking no more");
}

uint64_t Connection::send(const std::string& exchange, const std::string& key, const Message& message) {
  constexpr uint8_t kOnDisk = 2;
  const std::string number = std::to_string(sent_ + 1);
  amqp_basic_properties_t properties{};
  properties._flags = AMQP_BASIC_CONTENT_TYPE_FLAG | AMQP_BASIC_DELIVERY_MODE_FLAG | AMQP_BASIC_TYPE_FLAG |
                      AMQP_BASIC_CORRELATION_ID_FLAG | AMQP_BASIC_MESSAGE_ID_FLAG;
  properties.content_type = amqp_cstring_bytes("application/jsonl");
  properties.delivery_mode = kOnDisk;
  properties.type = bytes_of(message.type);
  properties.correlation_id = bytes_of(message.correlation);
  properties.message_id = bytes_of(number);  // names the message when the broker returns it
  if (!message.reply_to.empty()) {
    properties._flags |= AMQP_BASIC_REPLY_TO_FLAG;
    properties.reply_to = bytes_of(message.reply_to);
  }
  const int sent = amqp_basic_publish(state_of(state_.get()), kChannel, bytes_of(exchange), bytes_of(key), 1,
                                      0, &properties, bytes_of(message.body));
  if (sent != AMQP_STATUS_OK) throw Lost(fmt::format("{}: {}", where_, amqp_error_string2(sent)));
  unconfirmed_.insert(++sent_);
  return sent_;
}

bool Connection::publish(const std::string& exchange, const std::string& key,
                         std::span<const Message> messages) {
  const uint64_t first = sent_ + 1;
  amqp_frame_t frame;
  for (const Message& message : messages) {
    send(exchange, key, message);
    // A broker that cannot deliver to a connection stops reading from it.
    while (read_frame(frame, std::chrono::milliseconds{0})) take(frame);
  }
  while (unconfirmed_.lower_bound(first) != unconfirmed_.end()) {
    read_frame(frame);
    take(frame);
  }
  const auto returned = unroutable_.lower_bound(first);
  const bool all_have_queues = returned == unroutable_.end();
  unroutable_.erase(returned, unroutable_.end());
  return all_have_queues;
}

std::optional<Delivery> Connection::next(std::chrono::milliseconds wait) {
  const auto until = std::chrono::steady_clock::now() + wait;
  while (inbox_.empty()) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    amqp_frame_t frame;
    if (!read_frame(frame, std::max(left, std::chrono::milliseconds{0}))) return std::nullopt;
    take(frame);
  }
  Delivery delivery = std::move(inbox_.front());
  inbox_.pop_front();
  return delivery;
}

void Connection::acknowledge(uint64_t tag) {
  const int sent = amqp_basic_ack(state_of(state_.get()), kChannel, tag, 0);
  if (sent != AMQP_STATUS_OK) throw Lost(fmt::format("{}: {}", where_, amqp_error_string2(sent)));
}

int Connection::socket() const { return amqp_get_sockfd(state_of(state_.get())); }

bool Connection::read_frame(amqp_frame_t_& frame, std::chrono::milliseconds wait) {
  const amqp_connection_state_t state = state_of(state_.get());
  amqp_maybe_release_buffers(state);
  const timeval time = {wait.count() / 1000, (wait.count() % 1000) * 1000};
  const int status = amqp_simple_wait_frame_noblock(state, &frame, &time);
  if (status == AMQP_STATUS_TIMEOUT) return false;
  if (status != AMQP_STATUS_OK) throw Lost(fmt::format("{}: {}", where_, amqp_error_string2(status)));
  return true;
}

void Connection::read_frame(amqp_frame_t_& frame) {
  if (read_frame(frame, std::chrono::seconds{kPatience.tv_sec})) return;
  throw Lost(blocked_.empty() ? fmt::format("{}: it says nothing", where_)
                              : fmt::format("{}: it takes no messages: {}", where_, blocked_));
}

void Connection::take(const amqp_frame_t_& frame) {
  if (frame.frame_type != AMQP_FRAME_METHOD) throw Lost(fmt::format("{}: a message without a head", where_));
  const amqp_method_t& method = frame.payload.method;
  switch (method.id) {
    case AMQP_BASIC_DELIVER_METHOD: {
      const auto& deliver = *static_cast<const amqp_basic_deliver_t*>(method.decoded);
      const uint64_t tag = deliver.delivery_tag;
      std::string consumer = text_of(deliver.consumer_tag);
      Delivery delivery = read_content();
      delivery.tag = tag;
      delivery.consumer = std::move(consumer);
      inbox_.push_back(std::move(delivery));
      return;
    }
    case AMQP_BASIC_RETURN_METHOD:
      unroutable_.insert(read_content().number);
      return;
    case AMQP_BASIC_ACK_METHOD: {
      const auto& ack = *static_cast<const amqp_basic_ack_t*>(method.decoded);
      unconfirmed_.erase(
          ack.multiple != 0 ? unconfirmed_.begin() : unconfirmed_.lower_bound(ack.delivery_tag),
          unconfirmed_.upper_bound(ack.delivery_tag));
      return;
    }
    case AMQP_BASIC_NACK_METHOD:
      throw Lost(fmt::format("{}: it could not keep a message", where_));
    case AMQP_BASIC_CANCEL_METHOD:
      throw Lost(fmt::format("{}: a queue was deleted", where_));
    case AMQP_CHANNEL_CLOSE_METHOD:
      throw EnvironmentError(fmt::format("{} closes the channel: {}", where_, reason_of(method)));
    case AMQP_CONNECTION_CLOSE_METHOD:
      throw Lost(fmt::format("{}: {}", where_, reason_of(method)));
    case AMQP_CONNECTION_BLOCKED_METHOD:
      blocked_ = text_of(static_cast<const amqp_connection_blocked_t*>(method.decoded)->reason);
      return;
    case AMQP_CONNECTION_UNBLOCKED_METHOD:
      blocked_.clear();
      return;
    default:
      throw Lost(fmt::format("{}: it said {}", where_, amqp_method_name(method.id)));
  }
}

Delivery Connection::read_content() {
  amqp_frame_t frame;
  read_frame(frame);
  if (frame.frame_type != AMQP_FRAME_HEADER)
    throw Lost(fmt::format("{}: a message without a header", where_));
  Delivery delivery;
  const uint64_t size = frame.payload.properties.body_size;
  const auto& said = *static_cast<const amqp_basic_properties_t*>(frame.payload.properties.decoded);
  if ((said._flags & AMQP_BASIC_TYPE_FLAG) != 0) delivery.message.type = text_of(said.type);
  if ((said._flags & AMQP_BASIC_CORRELATION_ID_FLAG) != 0)
    delivery.message.correlation = text_of(said.correlation_id);
  if ((said._flags & AMQP_BASIC_REPLY_TO_FLAG) != 0) delivery.message.reply_to = text_of(said.reply_to);
  if ((said._flags & AMQP_BASIC_MESSAGE_ID_FLAG) != 0) {
    const auto* const id = static_cast<const char*>(said.message_id.bytes);
    std::from_chars(id, id + said.message_id.len, delivery.number);
  }
  if ((said._flags & AMQP_BASIC_HEADERS_FLAG) != 0) {
    for (int i = 0; i < said.headers.num_entries; ++i)
      delivery.dead = delivery.dead || text_of(said.headers.entries[i].key) == "x-death";
  }
  delivery.too_large = size > kMaxMessageBytes;
  for (uint64_t read = 0; read < size;) {
    read_frame(frame);
    if (frame.frame_type != AMQP_FRAME_BODY) throw Lost(fmt::format("{}: a message ends early", where_));
    const amqp_bytes_t& part = frame.payload.body_fragment;
    read += part.len;
    if (!delivery.too_large) delivery.message.body += text_of(part);
  }
  return delivery;
}

}  // namespace tunesmith::broker
