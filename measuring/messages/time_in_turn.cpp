#include "messages/time_in_turn.h"

#include <utility>

#include "messages/limits.h"
#include "messages/reading_fields.h"
#include "tunesmith/schema/field.h"
#include "tunesmith/schema/outcome_fields.h"

namespace tunesmith {

Message to_message(const TimeInTurnRequest& request) {
  return {{{"type", "time_in_turn"}, {"rounds", request.rounds}}, {}};
}

tl::expected<TimeInTurnRequest, std::string> read_time_in_turn_request(const Message& message) {
  std::string error;
  const Field header(message.header, error);
  header["type"].expect("time_in_turn");
  const TimeInTurnRequest request{static_cast<int>(header["rounds"].integer(1, kMaxRounds))};
  return checked(request, error);
}

Message to_message(const TimeInTurnReply& reply) {
  return {{{"type", "timed"}, {"samples", reply.samples}, {"reading", reading_fields(reply.reading)}}, {}};
}

tl::expected<TimeInTurnReply, std::string> read_time_in_turn_reply(const Message& message, size_t kernels,
                                                                   size_t rounds) {
  std::string error;
  const Field header(message.header, error);
  header["type"].expect("timed");
  TimeInTurnReply reply;
  reply.samples = header["samples"].list(
      kernels, kernels, [&](const Field& list) { return read_samples(list, rounds, rounds); });
  reply.reading = read_reading(header["reading"]);
  return checked(std::move(reply), error);
}

}  // namespace tunesmith
