#include "value_types.h"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include <tunesmith/support/error.h>

#include "element_types.h"
#include "proto.h"

namespace tunesmith::onnx_reader {
namespace {

const char* kind_of(const onnx::TypeProto& type) {
  switch (type.value_case()) {
    case onnx::TypeProto::kSequenceType:
      return "a sequence";
    case onnx::TypeProto::kMapType:
      return "a map";
    case onnx::TypeProto::kOptionalType:
      return "an optional value";
    case onnx::TypeProto::kSparseTensorType:
      return "a sparse tensor";
    default:
      return "of an undeclared type";
  }
}

/// Some tools write "?", "-1" or "None" for an unknown extent.
bool is_name(const std::string& text) {
  return text != "None" && std::ranges::any_of(text, [](unsigned char c) { return std::isalpha(c) != 0; });
}

}  // namespace

std::string no_tensor(const onnx::TypeProto& type) {
  return fmt::format("it is {}, expected a dense tensor", kind_of(type));
}

void set_type(network::Tensor& tensor, const onnx::TypeProto& type, bool name_extents) {
  if (!type.has_tensor_type()) throw UserError(no_tensor(type));
  const int32_t number = type.tensor_type().elem_type();
  const std::optional<ElementType> element = element_type(number);
  if (!element) throw UserError(refused_element_type(number));
  tensor.dtype = element->dtype;
  tensor.code = element->code;
  if (!type.tensor_type().has_shape()) return;
  std::vector<network::Extent> shape;
  for (const auto& dimension : type.tensor_type().shape().dim()) {
    if (dimension.has_dim_value() && dimension.dim_value() >= 0) {
      shape.emplace_back(dimension.dim_value());
    } else if (is_name(dimension.dim_param())) {
      shape.emplace_back(dimension.dim_param());
    } else if (name_extents) {
      shape.emplace_back(fmt::format("{}.{}", tensor.name, shape.size()));
    } else {
      return;
    }
  }
  tensor.shape = std::move(shape);
}

}  // namespace tunesmith::onnx_reader
