#include <algorithm>
#include <set>

#include "loops/repetition.h"
#include "parts.h"
#include "passes.h"
#include "tunesmith/network/operator.h"

namespace tunesmith::network {
namespace {

/// The order batch, space, channels.
std::vector<int32_t> channels_last(size_t rank) {
  std::vector<int32_t> order = {0};
  for (size_t axis = 2; axis < rank; ++axis) order.push_back(static_cast<int32_t>(axis));
  order.push_back(1);
  return order;
}

class Layouts {
 public:
  explicit Layouts(Network& network) : network_(network) {
    fixed_.insert(network.inputs.begin(), network.inputs.end());
    fixed_.insert(network.outputs.begin(), network.outputs.end());
    for (const Node& node : network.nodes) {
      if (!is_repetition(node)) continue;
      fixed_.insert(node.inputs.begin(), node.inputs.end());
      fixed_.insert(node.outputs.begin(), node.outputs.end());
    }
  }

  void run() {
    for (const Node& node : network_.nodes) {
      if (joined_axis(network_, node)) joins_.insert(&node);
      if (!node.definition->is_over_images()) continue;
      turn(node.inputs.front());
      for (const TensorIndex output : node.outputs) turn(output);
    }
    while (spread()) {
    }
  }

 private:
  Tensor& tensor(TensorIndex index) { return network_.tensor(index); }

  /// Gives the tensor channels-last order; true if that changes it. The network's inputs and results,
  /// constants, and tensors without channels keep their order.
  bool turn(TensorIndex index) {
    if (index == kAbsent || fixed_.contains(index)) return false;
    Tensor& turned = tensor(index);
    if (turned.constant != nullptr || turned.shape->size() < 3 || !turned.order.empty()) return false;
    turned.order = channels_last(turned.shape->size());
    return true;
  }

  /// Propagates the order within each node to tensors of the same shape, as in element-wise nodes, and to all
  /// tensors of a concatenation.
  bool spread() {
    bool any = false;
    for (const Node& node : network_.nodes) {
      std::vector<TensorIndex> all = node.inputs;
      all.insert(all.end(), node.outputs.begin(), node.outputs.end());
      std::erase(all, kAbsent);
      const auto turned =
          std::ranges::find_if(all, [&](TensorIndex index) { return !tensor(index).order.empty(); });
      if (turned == all.end()) continue;
      const std::vector<Extent> shape = *tensor(*turned).shape;
      for (const TensorIndex index : all)
        any |= (*tensor(index).shape == shape || joins_.contains(&node)) && turn(index);
    }
    return any;
  }

  Network& network_;
  std::set<TensorIndex> fixed_;
  std::set<const Node*> joins_;  // concatenations
};

}  // namespace

void choose_layouts(Network& network, const PassOptions& /*options*/) { Layouts(network).run(); }

}  // namespace tunesmith::network
