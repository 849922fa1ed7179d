// What a worker answers to any question that it cannot answer: the candidate failed, or the worker did.
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "messages/message.h"
#include "tunesmith/measure/failure.h"

namespace tunesmith {

/// "run", "failure"; "" when a message does not say, or not in a few words.
std::string type_of(const Message& message);

/// The candidate's fault.
struct FailureReply {
  FailureCause cause = FailureCause::WorkerLost;
  std::string message;
  bool device_lost = false;  // the worker's last answer: it can run nothing more
};

Message to_message(const FailureReply& reply);
tl::expected<FailureReply, std::string> read_failure_reply(const Message& message);

/// The worker's last answer: it cannot continue.
struct ErrorReply {
  std::string message;
  bool of_user = false;  // a UserError
};

Message to_message(const ErrorReply& reply);
tl::expected<ErrorReply, std::string> read_error_reply(const Message& message);

}  // namespace tunesmith
