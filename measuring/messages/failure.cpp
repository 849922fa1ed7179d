#include "messages/failure.h"

#include <fmt/format.h>

#include "messages/field.h"
#include "messages/limits.h"

namespace tunesmith {
namespace {

std::string kept(const std::string& message) {
  return message.size() <= kKeptMessage ? message : message.substr(0, kKeptMessage) + " ..";
}

}  // namespace

std::string type_of(const Message& message) {
  std::string error;
  return Field(message.header, error)["type"].text(kMaxName);
}

Message to_message(const FailureReply& reply) {
  return {{{"type", "failure"},
           {"cause", failure_cause_name(reply.cause)},
           {"message", kept(reply.message)},
           {"device_lost", reply.device_lost}},
          {}};
}

tl::expected<FailureReply, std::string> read_failure_reply(const Message& message) {
  std::string error;
  const Field header(message.header, error);
  header["type"].expect("failure");
  const Field cause = header["cause"];
  const std::string name = cause.text(kMaxName);
  FailureReply reply;
  if (const auto known = parse_failure_cause(name)) {
    reply.cause = *known;
  } else {
    cause.wrong(fmt::format("is '{}', which is no cause of a failure", name.substr(0, 40)));
  }
  reply.message = header["message"].text(kMaxMessage);
  reply.device_lost = header["device_lost"].boolean();
  return checked(std::move(reply), error);
}

Message to_message(const ErrorReply& reply) {
  return {{{"type", "error"}, {"message", kept(reply.message)}, {"of_user", reply.of_user}}, {}};
}

tl::expected<ErrorReply, std::string> read_error_reply(const Message& message) {
  std::string error;
  const Field header(message.header, error);
  header["type"].expect("error");
  ErrorReply reply;
  reply.message = header["message"].text(kMaxMessage);
  reply.of_user = header["of_user"].boolean();
  return checked(std::move(reply), error);
}

}  // namespace tunesmith
