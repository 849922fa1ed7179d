#include "constant_node.h"

#include <tunesmith/support/error.h>

#include "constants.h"
#include "proto.h"

namespace tunesmith::onnx_reader {
namespace {

using network::Constant;

template <typename Value>
std::shared_ptr<const Constant> constant_of(DType dtype, std::vector<Value> values, bool single) {
  const auto kept = std::make_shared<const std::vector<Value>>(std::move(values));
  network::Shape shape;
  if (!single) shape.push_back(static_cast<int64_t>(kept->size()));
  return std::make_shared<Constant>(Constant{dtype, std::move(shape), std::as_bytes(std::span(*kept)), kept});
}

}  // namespace

std::shared_ptr<const Constant> constant_of_node(const std::string& name,
                                                 const onnx::AttributeProto& attribute,
                                                 const std::shared_ptr<const void>& owner,
                                                 ExternalFiles& files) {
  if (name == "value") return read_constant(attribute.t(), owner, files);
  if (name == "value_float") return constant_of(kF32, std::vector<float>{attribute.f()}, true);
  if (name == "value_int") return constant_of(kI64, std::vector<int64_t>{attribute.i()}, true);
  if (name == "value_floats")
    return constant_of(kF32, std::vector<float>(attribute.floats().begin(), attribute.floats().end()), false);
  if (name == "value_ints")
    return constant_of(kI64, std::vector<int64_t>(attribute.ints().begin(), attribute.ints().end()), false);
  throw UserError(
      "it is unsupported; supported are value, value_float, value_floats, value_int and value_ints");
}

}  // namespace tunesmith::onnx_reader
