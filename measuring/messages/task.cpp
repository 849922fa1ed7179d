#include "messages/task.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "messages/edge_fields.h"
#include "messages/fill_fields.h"
#include "messages/kernel_fields.h"
#include "messages/limits.h"
#include "messages/option_fields.h"
#include "messages/repeats_fields.h"
#include "tunesmith/schema/field.h"
#include "tunesmith/verification/verify_outputs.h"

namespace tunesmith {
namespace {

using nlohmann::json;

constexpr double kMaxFactor = 1e6;  // for racing

/// The strides of elements that do not overlap; nothing for an array without gaps.
std::vector<int64_t> read_strides(const Field& field, const std::vector<int64_t>& shape) {
  std::vector<int64_t> strides =
      field.list(0, kMaxDimensions, [](const Field& stride) { return stride.integer(1, kMaxMemory); });
  if (strides.empty()) return strides;
  bool apart = strides.size() == shape.size();
  int64_t span = 1;
  for (size_t d = shape.size(); apart && d-- > 0;) {
    if (shape[d] == 1) continue;
    apart = strides[d] >= span && strides[d] <= kMaxMemory / 8 / shape[d];
    if (apart) span += (shape[d] - 1) * strides[d];
  }
  if (apart) return strides;
  field.wrong("puts elements in one place, or where nothing can be addressed");
  return {};
}

Argument read_argument(const Field& fields) {
  const std::string name = fields["name"].text(kMaxName);
  const Field dtype = fields["dtype"];
  const std::optional<DType> type = DType::parse(dtype.text(kMaxName));
  if (!type) dtype.wrong("is no element type");
  const Field dimensions = fields["shape"];
  std::vector<int64_t> shape =
      dimensions.list(0, kMaxDimensions, [](const Field& extent) { return extent.integer(1, kMaxMemory); });
  int64_t left = kMaxMemory / 8;  // remaining elements of up to eight bytes
  for (const int64_t extent : shape) left = extent < 1 ? 0 : left / extent;
  if (left == 0) {
    dimensions.wrong("has more elements than can be addressed");
    shape.clear();  // invalid: no buffer is made
  }
  std::vector<int64_t> strides = read_strides(fields["strides"], shape);
  return {make_buffer(name, type.value_or(kF32), std::move(shape), kScopeGlobal, false, std::move(strides)),
          fields["output"].boolean()};
}

size_t outputs_among(const std::vector<Argument>& arguments) {
  return static_cast<size_t>(std::ranges::count_if(arguments, &Argument::output));
}

/// Why `results` do not match data drawn in this way, or "".
std::string mismatch(const std::vector<Fill>& fills, const std::vector<std::string>& results,
                     const std::vector<Argument>& arguments) {
  size_t draws = 0;
  for (const Fill& fill : fills) draws += static_cast<size_t>(fill.draws);
  if (results.size() != draws * outputs_among(arguments))
    return fmt::format("it has {} results of the reference, and {} draws of {} outputs", results.size(),
                       draws, outputs_among(arguments));
  size_t next = 0;
  for (size_t draw = 0; draw < draws; ++draw) {
    for (const Argument& argument : arguments) {
      if (argument.output && !ExpectedOutput::fits(*argument.buffer, results[next++]))
        return fmt::format("its result {} of the reference does not fit '{}'", next - 1,
                           argument.buffer->name);
    }
  }
  return "";
}

std::vector<ReferenceKernel> read_references(const Field& list, std::vector<std::string>& attachments,
                                             const std::vector<Argument>& arguments) {
  const size_t outputs = outputs_among(arguments);
  size_t next = 0;
  return list.list(kDataKinds.size(), kDataKinds.size(), [&](const Field& fields) {
    ReferenceKernel reference;
    reference.kernel = read_kernel(fields, std::move(attachments[next++]), arguments.size());
    reference.has_bound =
        fields["has_bound"].list(outputs, outputs, [](const Field& field) { return field.boolean(); });
    return reference;
  });
}

SamplingOptions read_sampling(const Field& header) {
  const Repeats repeats = read_repeats(header);
  return {repeats.min_repeats, repeats.max_repeats, repeats.min_total_seconds,
          header["racing_factor"].number(0.0, kMaxFactor)};
}

}  // namespace

Message to_message(const TaskRequest& request) {
  Message message;
  json buffers = json::array();
  for (const auto& [buffer, output] : request.arguments) {
    buffers.push_back({{"name", buffer->name},
                       {"dtype", buffer->dtype.str()},
                       {"shape", buffer->shape},
                       {"strides", buffer->strides},
                       {"output", output}});
  }
  json references = json::array();
  for (const ReferenceKernel& reference : request.references) {
    json fields = kernel_fields(reference.kernel);
    fields["has_bound"] = reference.has_bound;
    references.push_back(std::move(fields));
    message.attachments.push_back(reference.kernel.object);
  }
  message.header = {{"type", "task"},
                    {"target", request.target},
                    {"options", option_fields(request.options)},
                    {"plugin_paths", request.plugin_paths},
                    {"lock_file", request.lock_file},
                    {"threads", request.threads},
                    {"data_seed", request.data_seed},
                    {"most_terms", request.most_terms},
                    {"elements", request.elements},
                    {"exponentiates_below_maximum", request.exponentiates_below_maximum},
                    {"edges", edge_trait_fields(request.edges)},
                    {"racing_factor", request.sampling.racing_factor},
                    {"memory_limit_bytes", request.memory_limit_bytes},
                    {"buffers", std::move(buffers)},
                    {"references", std::move(references)}};
  const SamplingOptions& sampling = request.sampling;
  add_repeats(message.header, {sampling.min_repeats, sampling.max_repeats, sampling.min_total_seconds});
  if (!request.parameters.empty()) message.header["parameters"] = request.parameters;
  if (!request.fills.empty()) add_data(message, {request.fills, request.results});
  return message;
}

tl::expected<TaskRequest, std::string> read_task_request(Message message) {
  if (message.attachments.size() < kDataKinds.size())
    return tl::make_unexpected(fmt::format("it has no {} attachments, the references", kDataKinds.size()));
  std::string error;
  const Field header(message.header, error);
  header["type"].expect("task");
  TaskRequest request;
  request.target = header["target"].text(kMaxName);
  request.options = read_options(header["options"]);
  request.plugin_paths =
      header["plugin_paths"].list(0, kMaxPluginPaths, [](const Field& path) { return path.text(kMaxName); });
  request.lock_file = header["lock_file"].text(kMaxName);
  request.threads = static_cast<int>(header["threads"].integer(0, kMaxThreads));
  request.data_seed = header["data_seed"].bits();
  request.most_terms = header["most_terms"].integer(0, kAnyCount);
  request.elements = header["elements"].integer(0, kAnyCount);
  request.exponentiates_below_maximum = header["exponentiates_below_maximum"].boolean();
  request.edges = read_edge_traits(header["edges"]);
  request.sampling = read_sampling(header);
  request.memory_limit_bytes = header["memory_limit_bytes"].integer(0, kMaxMemory);
  request.arguments = header["buffers"].list(1, kMaxBuffers, read_argument);
  if (const auto values = header.find("parameters")) {
    request.parameters =
        values->list(1, kMaxBuffers, [](const Field& value) { return value.integer(0, kAnyCount); });
  }
  request.references = read_references(header["references"], message.attachments, request.arguments);
  if (const auto fills = header.find("fills")) request.fills = read_fills(*fills);
  request.results.assign(std::make_move_iterator(message.attachments.begin() + kDataKinds.size()),
                         std::make_move_iterator(message.attachments.end()));
  if (error.empty()) error = mismatch(request.fills, request.results, request.arguments);
  return checked(std::move(request), error);
}

Message to_message(const ReadyReply& reply) {
  return {{{"type", "ready"}, {"fills", fill_fields(reply.fills)}}, reply.results};
}

tl::expected<ReadyReply, std::string> read_ready_reply(Message message,
                                                       const std::vector<Argument>& arguments) {
  std::string error;
  const Field header(message.header, error);
  header["type"].expect("ready");
  ReadyReply reply;
  reply.fills = read_fills(header["fills"]);
  reply.results = std::move(message.attachments);
  if (error.empty()) error = mismatch(reply.fills, reply.results, arguments);
  return checked(std::move(reply), error);
}

MessageLimits ready_limits(const std::vector<Argument>& arguments) {
  uint64_t bytes = 0;  // of the results of one draw
  for (const Argument& argument : arguments)
    if (argument.output) bytes += ExpectedOutput::max_bytes(*argument.buffer);
  const uint64_t draws = kDataKinds.size() * static_cast<uint64_t>(kMaxDraws);
  return {kPlainAnswer.header_bytes, draws * outputs_among(arguments), draws * bytes};
}

void add_data(Message& task, ReadyReply reply) {
  task.header["fills"] = fill_fields(reply.fills);
  std::ranges::move(reply.results, std::back_inserter(task.attachments));
}

}  // namespace tunesmith
