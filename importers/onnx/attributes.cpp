#include "attributes.h"

#include <fmt/format.h>

#include <tunesmith/support/error.h>

#include "constants.h"
#include "element_types.h"
#include "proto.h"

namespace tunesmith::onnx_reader {
namespace {

template <typename Value, typename Values>
std::vector<Value> list_of(const Values& values) {
  return {values.begin(), values.end()};
}

/// Files of the first versions of ONNX lack the type.
int type_of(const onnx::AttributeProto& attribute) {
  using Proto = onnx::AttributeProto;
  if (attribute.type() != Proto::UNDEFINED) return attribute.type();
  if (attribute.has_f()) return Proto::FLOAT;
  if (attribute.has_i()) return Proto::INT;
  if (attribute.has_s()) return Proto::STRING;
  if (attribute.has_t()) return Proto::TENSOR;
  if (attribute.has_g()) return Proto::GRAPH;
  if (attribute.floats_size() > 0) return Proto::FLOATS;
  if (attribute.ints_size() > 0) return Proto::INTS;
  if (attribute.strings_size() > 0) return Proto::STRINGS;
  return Proto::UNDEFINED;
}

}  // namespace

network::Attribute read_attribute(const onnx::AttributeProto& attribute,
                                  const std::shared_ptr<const void>& owner, ExternalFiles& files) {
  using Proto = onnx::AttributeProto;
  const int type = type_of(attribute);
  switch (type) {
    case Proto::FLOAT:
      return static_cast<double>(attribute.f());
    case Proto::INT:
      return attribute.i();
    case Proto::STRING:
      return attribute.s();
    case Proto::TENSOR:
      // Attributes cannot have values with a code.
      if (const auto element = element_type(attribute.t().data_type());
          element && element->code != network::Code::None)
        throw UserError(refused_element_type(attribute.t().data_type()));
      return read_constant(attribute.t(), owner, files);
    case Proto::FLOATS:
      return list_of<double>(attribute.floats());
    case Proto::INTS:
      return list_of<int64_t>(attribute.ints());
    case Proto::STRINGS:
      return list_of<std::string>(attribute.strings());
    default:
      throw UserError(
          fmt::format("its type, number {} of ONNX's, is unsupported; supported are numbers, strings, lists "
                      "of them and tensors",
                      type));
  }
}

}  // namespace tunesmith::onnx_reader
