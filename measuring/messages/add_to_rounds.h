// "add_to_rounds": take one more kernel into the rounds in which kernels are timed in turn.
#pragma once

#include <cstdint>
#include <string>

#include <tl/expected.hpp>

#include "messages/message.h"
#include "tunesmith/target/target.h"

namespace tunesmith {

struct AddToRoundsRequest {
  CompiledKernel kernel;
  bool begin = false;      // previously added kernels are dropped
  bool yardstick = false;  // it computes nothing that could be compared
  int64_t shared_workspace_bytes = 0;
};

Message to_message(const AddToRoundsRequest& request);
/// `buffers`: how many arguments the task has.
tl::expected<AddToRoundsRequest, std::string> read_add_to_rounds_request(Message message, size_t buffers);

struct AddToRoundsReply {
  double seconds = 0.0;  // of one call
};

Message to_message(const AddToRoundsReply& reply);
tl::expected<AddToRoundsReply, std::string> read_add_to_rounds_reply(const Message& message);

}  // namespace tunesmith
