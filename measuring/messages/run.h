// "run": verify and time one candidate.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "messages/message.h"
#include "runner/disturbance.h"
#include "tunesmith/target/target.h"

namespace tunesmith {

struct RunRequest {
  CompiledKernel kernel;
  double limit_seconds = 0.0;  // as in MeasureRequest
  bool parallel = true;        // likewise
};

Message to_message(const RunRequest& request);
/// `buffers`: how many arguments the task has.
tl::expected<RunRequest, std::string> read_run_request(Message message, size_t buffers);

struct RunReply {
  std::vector<double> samples;                           // at least one, each a time
  double verified_error = 0.0;                           // at most 1
  std::optional<Reading> reading = std::nullopt;         // none if a model or a device gives the time
  std::optional<double> prepare_seconds = std::nullopt;  // if the kernel has a PrepareStep
};

Message to_message(const RunReply& reply);
/// `max_samples`: the task's.
tl::expected<RunReply, std::string> read_run_reply(const Message& message, size_t max_samples);

}  // namespace tunesmith
