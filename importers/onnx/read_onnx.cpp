#include "read_onnx.h"

#include <climits>

#include <fmt/format.h>

#include <tunesmith/support/error.h>

#include "constants.h"
#include "network_builder.h"
#include "proto.h"

namespace tunesmith::onnx_reader {

bool looks_like_onnx(std::string_view file_name, std::span<const std::byte> head) {
  if (file_name.ends_with(".onnx")) return true;
  // A model begins with the format's version (field 1, a number), followed by a field that is text or a
  // message.
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  constexpr std::string_view kFieldsOfAModel = "\x12\x1a\x22\x32\x3a\x42\x72";
  return text.size() > 2 && text[0] == '\x08' && text[1] > 0 && text[1] < 32 &&
         kFieldsOfAModel.find(text[2]) != std::string_view::npos;
}

network::Network read_onnx(std::span<const std::byte> bytes, const std::filesystem::path& folder) {
  if (bytes.size() > INT_MAX)
    throw UserError(fmt::format("a model of {} bytes exceeds its format's limit", bytes.size()),
                    "store its weights as external data");
  auto model = std::make_shared<onnx::ModelProto>();
  // Protobuf limits the nesting of messages to 100.
  if (!model->ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    throw UserError("the file is damaged or truncated: not a model");
  return NetworkBuilder(std::move(model), folder).build();
}

std::shared_ptr<const network::Constant> read_tensor(std::span<const std::byte> bytes) {
  auto tensor = std::make_shared<onnx::TensorProto>();
  if (bytes.size() > INT_MAX || !tensor->ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    throw UserError("the file is damaged or truncated: not a tensor");
  if (tensor->data_location() == onnx::TensorProto::EXTERNAL)
    throw UserError("a tensor by itself has no external data");
  ExternalFiles none{std::filesystem::path()};
  return read_constant(*tensor, tensor, none);
}

}  // namespace tunesmith::onnx_reader
