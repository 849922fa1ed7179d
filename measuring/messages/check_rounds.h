// "check_rounds": do the kernels that were timed in turn still compute their verified results?
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "messages/message.h"
#include "tunesmith/measure/failure.h"

namespace tunesmith {

struct CheckRoundsRequest {};

Message to_message(const CheckRoundsRequest& request);
tl::expected<CheckRoundsRequest, std::string> read_check_rounds_request(const Message& message);

struct CheckRoundsReply {
  std::vector<std::optional<CandidateFailure>> failures;  // for each kernel; nothing if it is correct
};

Message to_message(const CheckRoundsReply& reply);
/// `kernels`: how many are in the rounds.
tl::expected<CheckRoundsReply, std::string> read_check_rounds_reply(const Message& message, size_t kernels);

}  // namespace tunesmith
