#include "messages/add_to_rounds.h"

#include <utility>

#include "messages/kernel_fields.h"
#include "messages/limits.h"
#include "tunesmith/schema/field.h"

namespace tunesmith {

Message to_message(const AddToRoundsRequest& request) {
  Message message{kernel_fields(request.kernel), {request.kernel.object}};
  message.header["type"] = "add_to_rounds";
  message.header["begin"] = request.begin;
  message.header["yardstick"] = request.yardstick;
  message.header["shared_workspace_bytes"] = request.shared_workspace_bytes;
  return message;
}

tl::expected<AddToRoundsRequest, std::string> read_add_to_rounds_request(Message message, size_t buffers) {
  if (message.attachments.size() != 1) return tl::make_unexpected("it must have one attachment, the object");
  std::string error;
  const Field header(message.header, error);
  header["type"].expect("add_to_rounds");
  AddToRoundsRequest request;
  request.kernel = read_kernel(header, std::move(message.attachments.front()), buffers);
  request.begin = header["begin"].boolean();
  request.yardstick = header["yardstick"].boolean();
  request.shared_workspace_bytes =
      header["shared_workspace_bytes"].integer(request.kernel.workspace_bytes, kMaxMemory);
  return checked(std::move(request), error);
}

Message to_message(const AddToRoundsReply& reply) {
  return {{{"type", "added"}, {"seconds", reply.seconds}}, {}};
}

tl::expected<AddToRoundsReply, std::string> read_add_to_rounds_reply(const Message& message) {
  std::string error;
  const Field header(message.header, error);
  header["type"].expect("added");
  // Zero is valid: one call may be shorter than the clock's resolution.
  const AddToRoundsReply reply{header["seconds"].number(0.0, kMaxSeconds)};
  return checked(reply, error);
}

}  // namespace tunesmith
