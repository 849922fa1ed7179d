// "time_in_turn": some rounds of the kernels that were added to them.
#pragma once

#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "messages/message.h"
#include "runner/disturbance.h"

namespace tunesmith {

struct TimeInTurnRequest {
  int rounds = 1;
};

Message to_message(const TimeInTurnRequest& request);
tl::expected<TimeInTurnRequest, std::string> read_time_in_turn_request(const Message& message);

struct TimeInTurnReply {
  std::vector<std::vector<double>> samples;  // for each kernel, one per round
  Reading reading;
};

Message to_message(const TimeInTurnReply& reply);
/// Exactly the requested number.
tl::expected<TimeInTurnReply, std::string> read_time_in_turn_reply(const Message& message, size_t kernels,
                                                                   size_t rounds);

}  // namespace tunesmith
