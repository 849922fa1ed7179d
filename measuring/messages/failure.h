// The answer of a worker that cannot answer a question: the candidate or the worker failed.
#pragma once

#include <string>

#include <tl/expected.hpp>

#include "messages/message.h"
#include "tunesmith/measure/failure.h"

namespace tunesmith {

/// "run", "failure"; "" if the message has no type, or a long one.
std::string type_of(const Message& message);

/// The candidate's fault.
struct FailureReply {
  FailureCause cause = FailureCause::WorkerLost;
  std::string message;
  bool device_lost = false;  // the worker's last answer: its device is unusable
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
