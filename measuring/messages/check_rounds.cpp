#include "messages/check_rounds.h"

#include <utility>

#include "messages/limits.h"
#include "tunesmith/schema/field.h"
#include "tunesmith/schema/outcome_fields.h"

namespace tunesmith {
namespace {

using nlohmann::json;

std::optional<CandidateFailure> read_check(const Field& fields) {
  if (!fields["failed"].boolean()) return std::nullopt;
  return read_failure(fields, kMaxMessage);
}

}  // namespace

Message to_message(const CheckRoundsRequest& /*request*/) { return {{{"type", "check_rounds"}}, {}}; }

tl::expected<CheckRoundsRequest, std::string> read_check_rounds_request(const Message& message) {
  std::string error;
  const Field header(message.header, error);
  header["type"].expect("check_rounds");
  return checked(CheckRoundsRequest{}, error);
}

Message to_message(const CheckRoundsReply& reply) {
  json failures = json::array();
  for (const auto& failure : reply.failures) {
    json fields{{"failed", failure.has_value()}};
    if (failure) {
      add_failure(fields, {failure->cause, failure->message.substr(0, kKeptMessage)});
    }
    failures.push_back(std::move(fields));
  }
  return {{{"type", "checked"}, {"failures", std::move(failures)}}, {}};
}

tl::expected<CheckRoundsReply, std::string> read_check_rounds_reply(const Message& message, size_t kernels) {
  std::string error;
  const Field header(message.header, error);
  header["type"].expect("checked");
  CheckRoundsReply reply{header["failures"].list(kernels, kernels, read_check)};
  return checked(std::move(reply), error);
}

}  // namespace tunesmith
