#include "merge_scales.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "dequantized.h"
#include "joined.h"
#include "unique_name.h"

namespace tunesmith::network {
namespace {

/// Sums of products of an i32 and a factor up to this one do not overflow an f32.
constexpr double kMaxFactor = 1e18;

/// Divides what QuantizeLinear reads by its scale where that costs nothing: in the scales of the
/// DequantizeLinear nodes that it is computed from.
class ScaleMerging {
 public:
  explicit ScaleMerging(Network& network)
      : network_(network), makers_(makers_of(network)), readers_(readers()) {}

  void run() {
    const size_t count = network_.nodes.size();
    for (size_t i = 0; i < count; ++i) {
      const std::optional<Dequantized> bytes = quantized(network_, i);
      if (!bytes || bytes->axis || bytes->scale.front() == 1) continue;
      scale_ = bytes->scale.front();
      const TensorIndex given = unlimited(network_.nodes[i].inputs[0], *bytes);
      if (maker(given) != nullptr && is_scaled(given)) rewrite(i, given);
    }
    std::vector<Node> nodes;
    for (size_t i = 0; i < count; ++i) {
      if (const auto made = before_.find(i); made != before_.end())
        nodes.insert(nodes.end(), made->second.begin(), made->second.end());
      nodes.push_back(std::move(network_.nodes[i]));
    }
    network_.nodes = std::move(nodes);
  }

 private:
  const Tensor& tensor(TensorIndex index) const { return network_.tensor(index); }
  const Node* maker(TensorIndex index) const {
    const size_t node = makers_[static_cast<size_t>(index)];
    return node < network_.nodes.size() ? &network_.nodes[node] : nullptr;
  }

  std::vector<int> readers() const {
    std::vector<int> count(network_.tensors.size(), 0);
    const auto read = [&](TensorIndex index) {
      if (index != kAbsent) ++count[static_cast<size_t>(index)];
    };
    for (const Node& node : network_.nodes) std::ranges::for_each(node.inputs, read);
    std::ranges::for_each(network_.outputs, read);
    return count;
  }

  bool is_number(TensorIndex index) const {
    return tensor(index).constant && element_count(tensor(index).constant->shape) == 1;
  }

  /// The bound that a Clip has as input 1 or 2, or Relu.
  double bound(const Node& node, size_t input, double otherwise) const {
    if (node.op == "Relu") return input == 1 ? 0.0 : otherwise;
    const bool given = node.inputs.size() > input && node.inputs[input] != kAbsent;
    return given ? numbers_of(*tensor(node.inputs[input]).constant).front() : otherwise;
  }

  /// Relu, or a Clip with known bounds.
  bool is_limit(const Node& node) const {
    if (node.op != "Clip") return node.op == "Relu";
    for (size_t i = 1; i < node.inputs.size(); ++i)
      if (node.inputs[i] != kAbsent && !is_number(node.inputs[i])) return false;
    return node.attributes.empty();
  }

  /// What is limited where the limits lie beyond what the bytes hold: they saturate.
  TensorIndex unlimited(TensorIndex of, const Dequantized& bytes) const {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const double least = tensor(bytes.values).dtype == kU8 ? 0 : -128;
    const auto zero = static_cast<double>(bytes.zero.front());
    for (const Node* node = maker(of); node != nullptr && is_limit(*node); node = maker(of)) {
      const double low = std::nearbyint(bound(*node, 1, -kInfinity) / scale_) + zero;
      const double high = std::nearbyint(bound(*node, 2, kInfinity) / scale_) + zero;
      if (low > least || high < least + 255 || readers_[static_cast<size_t>(of)] != 1) break;
      of = node->inputs[0];
    }
    return of;
  }

  /// Do the numbers divided by the scale stay far below the largest f32?
  bool can_divide(const Constant& constant) const {
    return std::ranges::all_of(numbers_of(constant),
                               [&](double each) { return std::abs(each / scale_) <= kMaxFactor; });
  }

  bool has_known_scale(const Node& node) const {
    const auto block = node.attributes.find("block_size");
    if (block != node.attributes.end() && std::get<int64_t>(block->second) != 0) return false;
    const Tensor& scale = tensor(node.inputs[1]);
    return scale.constant && scale.dtype == kF32 && can_divide(*scale.constant);
  }

  /// Is the tensor computed by operators that commute with a positive factor, from dequantized ones and
  /// constants?
  bool is_scaled(TensorIndex of) const {
    if (tensor(of).dtype != kF32) return false;
    if (tensor(of).constant) return can_divide(*tensor(of).constant);
    const Node* node = maker(of);
    if (node == nullptr) return false;
    const bool is_read_once = readers_[static_cast<size_t>(of)] == 1;
    if (node->op == "DequantizeLinear")
      return has_known_scale(*node) && (is_read_once || tensor(node->inputs[0]).dtype != kI32);
    if (!is_read_once) return false;
    if (is_limit(*node)) return is_scaled(node->inputs[0]);
    return (node->op == "Add" || node->op == "Sub") && is_scaled(node->inputs[0]) &&
           is_scaled(node->inputs[1]);
  }

  TensorIndex divided(TensorIndex constant) {
    const Tensor of = tensor(constant);
    std::vector<double> values = numbers_of(*of.constant);
    for (double& each : values) each /= scale_;
    return add_constant(network_, of.name + "/scaled", *of.dtype, of.constant->shape, values);
  }

  /// Adds nodes that compute the tensor divided by the scale.
  TensorIndex scaled(TensorIndex of, std::vector<Node>& made) {
    if (tensor(of).constant) return divided(of);
    Node node = *maker(of);
    if (node.op == "DequantizeLinear") {
      node.inputs[1] = divided(node.inputs[1]);
    } else {
      node.inputs[0] = scaled(node.inputs[0], made);
      if (!is_limit(node)) node.inputs[1] = scaled(node.inputs[1], made);
      for (size_t i = 1; node.op == "Clip" && i < node.inputs.size(); ++i)
        if (node.inputs[i] != kAbsent) node.inputs[i] = divided(node.inputs[i]);
    }
    const Tensor before = tensor(of);
    node.name = unique_name(network_, node.name + "/scaled");
    node.outputs = {add_tensor(network_, before.name + "/scaled", kF32, input_of(before).type.shape)};
    made.push_back(node);
    return node.outputs.front();
  }

  void rewrite(size_t position, TensorIndex given) {
    std::vector<Node> made;
    const TensorIndex without = scaled(given, made);
    const TensorIndex one = add_constant(network_, network_.nodes[position].name + "/one", kF32, {}, {1.0});
    network_.nodes[position].inputs[0] = without;
    network_.nodes[position].inputs[1] = one;
    before_.emplace(position, std::move(made));
  }

  Network& network_;
  std::vector<size_t> makers_;
  std::vector<int> readers_;                    // of each tensor
  std::map<size_t, std::vector<Node>> before_;  // nodes to add before the node at a position
  double scale_ = 1;
};

}  // namespace

void merge_scales(Network& network) { ScaleMerging(network).run(); }

}  // namespace tunesmith::network
