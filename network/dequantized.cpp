#include "dequantized.h"

#include <algorithm>
#include <array>

#include "joined.h"
#include "unique_name.h"
#include "values.h"

namespace tunesmith::network {
namespace {

/// Bytes of other codes are floats.
bool has_integers(const Tensor& tensor) {
  const bool is_byte = tensor.dtype == kU8 || tensor.dtype == kI8;
  constexpr std::array kIntegers{Code::None, Code::I4, Code::U4, Code::I2, Code::U2};
  return is_byte && std::ranges::find(kIntegers, tensor.code) != kIntegers.end();
}

/// Reads inputs 1 and 2, scale and zero point, of a DequantizeLinear or QuantizeLinear.
std::optional<Dequantized> read_scale(const Network& network, size_t position, TensorIndex bytes) {
  const Node& node = network.nodes[position];
  const auto integer = [&](const char* name, int64_t otherwise) {
    const auto found = node.attributes.find(name);
    return found == node.attributes.end() ? otherwise : std::get<int64_t>(found->second);
  };
  if (!has_integers(network.tensor(bytes)) || integer("block_size", 0) != 0) return std::nullopt;
  const Tensor& scale = network.tensor(node.inputs[1]);
  const bool has_zero = node.inputs.size() > 2 && node.inputs[2] != kAbsent;
  if (scale.constant == nullptr || scale.dtype != kF32 ||
      (has_zero && network.tensor(node.inputs[2]).constant == nullptr))
    return std::nullopt;
  Dequantized found{position, bytes, numbers_of(*scale.constant), {}, {}};
  if (!std::ranges::all_of(found.scale, [](double value) { return value > 0; })) return std::nullopt;
  found.zero.assign(found.scale.size(), 0);
  if (has_zero) {
    const std::vector<double> zero = numbers_of(*network.tensor(node.inputs[2]).constant);
    found.zero.assign(zero.begin(), zero.end());
  }
  if (found.scale.size() == 1) return found;
  const auto rank = static_cast<int64_t>(input_of(network.tensor(bytes)).type.shape.size());
  const int64_t axis = integer("axis", 1);
  found.axis = static_cast<size_t>(axis < 0 ? axis + rank : axis);
  return found;
}

}  // namespace

std::vector<double> numbers_of(const Constant& constant) {
  const tunesmith::Tensor values = to_tensor(constant);
  std::vector<double> numbers;
  for (int64_t i = 0; i < values.elements(); ++i) numbers.push_back(values.get(i));
  return numbers;
}

std::vector<size_t> makers_of(const Network& network) {
  std::vector<size_t> makers(network.tensors.size(), network.nodes.size());
  for (size_t i = 0; i < network.nodes.size(); ++i)
    for (const TensorIndex output : network.nodes[i].outputs)
      if (output != kAbsent) makers[static_cast<size_t>(output)] = i;
  return makers;
}

std::optional<Dequantized> dequantized(const Network& network, const std::vector<size_t>& makers,
                                       TensorIndex tensor) {
  const size_t maker = tensor == kAbsent ? network.nodes.size() : makers[static_cast<size_t>(tensor)];
  if (maker == network.nodes.size() || network.nodes[maker].op != "DequantizeLinear" ||
      network.tensor(tensor).dtype != kF32)
    return std::nullopt;
  return read_scale(network, maker, network.nodes[maker].inputs[0]);
}

std::optional<Dequantized> quantized(const Network& network, size_t node) {
  const Node& of = network.nodes[node];
  if (of.op != "QuantizeLinear" || network.tensor(of.inputs[0]).dtype != kF32) return std::nullopt;
  return read_scale(network, node, of.outputs[0]);
}

TensorIndex add_tensor(Network& network, const std::string& name, DType dtype, const Shape& shape,
                       Code code) {
  Tensor made{unique_name(network, name), dtype, std::vector<Extent>(shape.begin(), shape.end()), nullptr};
  made.code = code;
  return network.add(std::move(made));
}

TensorIndex add_constant(Network& network, const std::string& name, DType dtype, const Shape& shape,
                         const std::vector<double>& values) {
  tunesmith::Tensor made = tunesmith::Tensor::zeros(dtype, shape);
  for (size_t i = 0; i < values.size(); ++i) made.set(static_cast<int64_t>(i), values[i]);
  const TensorIndex index = add_tensor(network, name, dtype, shape);
  network.tensors.back().constant = to_constant(std::move(made));
  return index;
}

}  // namespace tunesmith::network
