#include <algorithm>
#include <array>
#include <string_view>

#include "dequantized.h"
#include "joined.h"
#include "passes.h"

namespace tunesmith::network {
namespace {

/// Operators that move or choose elements of their first input, and do the same with quantized bytes.
constexpr std::array<std::string_view, 15> kMoving{
    "DepthToSpace", "Expand", "Flatten",      "Gather",  "GlobalMaxPool", "Identity",  "MaxPool",  "Reshape",
    "Slice",        "Split",  "SpaceToDepth", "Squeeze", "Tile",          "Transpose", "Unsqueeze"};

bool is_moving(const Node& node) { return std::ranges::find(kMoving, node.op) != kMoving.end(); }

bool have_one_scale(const Dequantized& a, const Dequantized& b) {
  return !a.axis && !b.axis && a.scale == b.scale && a.zero == b.zero;
}

bool have_one_type(const Tensor& a, const Tensor& b) { return a.dtype == b.dtype && a.code == b.code; }

class Moving {
 public:
  explicit Moving(Network& network) : network_(network) {}

  void run() {
    makers_ = makers_of(network_);
    for (size_t i = 0; i < network_.nodes.size(); ++i) {
      if (const std::optional<Dequantized> given = what_moves(i)) {
        i += move(i, *given);
        makers_ = makers_of(network_);
      }
    }
    for (size_t i = 0; i < network_.nodes.size(); ++i) {
      if (quantizes_joined(i)) {
        quantize_operands(i);
        makers_ = makers_of(network_);
      }
    }
    for (size_t i = 0; i < network_.nodes.size(); ++i) drop_pair(i);
  }

 private:
  const Tensor& tensor(TensorIndex index) const { return network_.tensor(index); }
  bool is_result(TensorIndex index) const {
    return std::ranges::find(network_.outputs, index) != network_.outputs.end();
  }

  /// The common scale of all operands, if the node only moves elements; else nothing.
  std::optional<Dequantized> what_moves(size_t position) const {
    const Node& node = network_.nodes[position];
    const bool joins = node.op == "Concat";
    if (!joins && !is_moving(node)) return std::nullopt;
    const std::optional<Dequantized> first = dequantized(network_, makers_, node.inputs.at(0));
    if (!first || first->axis) return std::nullopt;
    for (const TensorIndex input : joins ? node.inputs : std::vector<TensorIndex>()) {
      const std::optional<Dequantized> other = dequantized(network_, makers_, input);
      if (!other || !have_one_scale(*first, *other) ||
          !have_one_type(tensor(other->values), tensor(first->values)))
        return std::nullopt;
    }
    return computes_bytes(moved(node), tensor(first->values)) ? first : std::nullopt;
  }

  /// The node applied to the bytes.
  Node moved(Node node) const {
    const size_t count = node.op == "Concat" ? node.inputs.size() : 1;
    for (size_t i = 0; i < count; ++i)
      node.inputs[i] = network_.nodes[makers_[static_cast<size_t>(node.inputs[i])]].inputs[0];
    return node;
  }

  bool computes_bytes(const Node& node, const Tensor& bytes) const {
    try {
      const Computation made = define(node, inputs_of(network_, node)).computation;
      return std::ranges::all_of(made.outputs, [&](const TensorType& type) {
        return type.dtype == bytes.dtype && type.code == bytes.code;
      });
    } catch (const UserError&) {
      return false;  // the operator does not take bytes
    }
  }

  /// Moves the dequantization behind the node; returns the number of added nodes.
  size_t move(size_t position, const Dequantized& given) {
    Node& node = network_.nodes[position];
    node = moved(node);
    const Node before = network_.nodes[given.node];
    std::vector<Node> behind;
    for (size_t i = 0; i < network_.nodes[position].outputs.size(); ++i) {
      const TensorIndex output = network_.nodes[position].outputs[i];
      if (output == kAbsent) continue;
      const TensorIndex bytes = add_bytes(output, tensor(given.values));
      network_.nodes[position].outputs[i] = bytes;
      Node after = before;
      after.name = network_.tensor(bytes).name + "/dequantized";
      after.inputs[0] = bytes;
      after.outputs = {output};
      behind.push_back(std::move(after));
    }
    network_.nodes.insert(network_.nodes.begin() + static_cast<std::ptrdiff_t>(position) + 1, behind.begin(),
                          behind.end());
    return behind.size();
  }

  /// Adds bytes of this type for the elements of a tensor.
  TensorIndex add_bytes(TensorIndex of, const Tensor& type) {
    return add_tensor(network_, tensor(of).name + "/bytes", *type.dtype, input_of(tensor(of)).type.shape,
                      type.code);
  }

  /// Is the node the only reader of a concatenation, and does it quantize with a single scale?
  bool quantizes_joined(size_t position) const {
    const std::optional<Dequantized> bytes = quantized(network_, position);
    if (!bytes || bytes->axis) return false;
    const TensorIndex joined = network_.nodes[position].inputs[0];
    const size_t maker = makers_[static_cast<size_t>(joined)];
    return maker < network_.nodes.size() && network_.nodes[maker].op == "Concat" && !is_result(joined) &&
           std::ranges::count_if(
               network_.nodes,
               [&](const Node& node) {
                 return std::ranges::find(node.inputs, joined) != node.inputs.end();
               }) == 1;
  }

  /// Quantizes each operand instead, within its producer's kernel, so that bytes are concatenated.
  void quantize_operands(size_t position) {
    const Node quantizing = network_.nodes[position];
    const size_t maker = makers_[static_cast<size_t>(quantizing.inputs[0])];
    std::vector<Node> before;
    for (TensorIndex& operand : network_.nodes[maker].inputs) {
      const TensorIndex bytes = add_bytes(operand, tensor(quantizing.outputs[0]));
      before.push_back(quantizing);
      before.back().name = tensor(bytes).name + "/quantized";
      before.back().inputs[0] = operand;
      before.back().outputs = {bytes};
      operand = bytes;
    }
    network_.nodes[maker].outputs = quantizing.outputs;
    network_.nodes.erase(network_.nodes.begin() + static_cast<std::ptrdiff_t>(position));
    network_.nodes.insert(network_.nodes.begin() + static_cast<std::ptrdiff_t>(maker), before.begin(),
                          before.end());
  }

  /// Quantizing dequantized bytes with the same scale gives the bytes.
  void drop_pair(size_t position) {
    const std::optional<Dequantized> after = quantized(network_, position);
    if (!after || is_result(after->values)) return;
    const std::optional<Dequantized> before =
        dequantized(network_, makers_, network_.nodes[position].inputs[0]);
    if (!before || !have_one_scale(*before, *after) ||
        !have_one_type(tensor(before->values), tensor(after->values)))
      return;
    for (Node& node : network_.nodes) std::ranges::replace(node.inputs, after->values, before->values);
  }

  Network& network_;
  std::vector<size_t> makers_;
};

}  // namespace

void move_dequantization(Network& network, const PassOptions& options) {
  Moving(network).run();
  eliminate_dead_code(network, options);
}

}  // namespace tunesmith::network
