#include "messages/run.h"

#include <utility>

#include "messages/kernel_fields.h"
#include "messages/limits.h"
#include "messages/reading_fields.h"
#include "tunesmith/schema/field.h"
#include "tunesmith/schema/outcome_fields.h"

namespace tunesmith {

Message to_message(const RunRequest& request) {
  Message message{kernel_fields(request.kernel), {request.kernel.object}};
  message.header["type"] = "run";
  message.header["limit_seconds"] = request.limit_seconds;
  message.header["parallel"] = request.parallel;
  return message;
}

tl::expected<RunRequest, std::string> read_run_request(Message message, size_t buffers) {
  if (message.attachments.size() != 1) return tl::make_unexpected("it must have one attachment, the object");
  std::string error;
  const Field header(message.header, error);
  header["type"].expect("run");
  RunRequest request;
  request.kernel = read_kernel(header, std::move(message.attachments.front()), buffers);
  request.limit_seconds = header["limit_seconds"].number(0.0, kMaxSeconds);
  request.parallel = header["parallel"].boolean();
  return checked(std::move(request), error);
}

Message to_message(const RunReply& reply) {
  Message message{
      {{"type", "measured"}, {"samples", reply.samples}, {"verified_error", reply.verified_error}}, {}};
  if (reply.reading) message.header["reading"] = reading_fields(*reply.reading);
  if (reply.prepare_seconds) message.header["prepare_seconds"] = *reply.prepare_seconds;
  return message;
}

tl::expected<RunReply, std::string> read_run_reply(const Message& message, size_t max_samples) {
  std::string error;
  const Field header(message.header, error);
  header["type"].expect("measured");
  RunReply reply;
  reply.samples = read_samples(header["samples"], 1, max_samples);
  reply.verified_error = header["verified_error"].number(0.0, 1.0);
  if (const auto reading = header.find("reading")) reply.reading = read_reading(*reading);
  if (const auto seconds = header.find("prepare_seconds"))
    reply.prepare_seconds = seconds->number(0.0, kMaxSeconds);
  return checked(std::move(reply), error);
}

}  // namespace tunesmith
