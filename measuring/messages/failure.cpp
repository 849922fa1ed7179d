#include "messages/failure.h"

#include "messages/limits.h"
#include "tunesmith/schema/field.h"
#include "tunesmith/schema/outcome_fields.h"

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
  Message message{{{"type", "failure"}, {"device_lost", reply.device_lost}}, {}};
  add_failure(message.header, {reply.cause, kept(reply.message)});
  return message;
}

tl::expected<FailureReply, std::string> read_failure_reply(const Message& message) {
  std::string error;
  const Field header(message.header, error);
  header["type"].expect("failure");
  CandidateFailure failure = read_failure(header, kMaxMessage);
  return checked(FailureReply{failure.cause, std::move(failure.message), header["device_lost"].boolean()},
                 error);
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
