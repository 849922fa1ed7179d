#include <algorithm>

#include "copy.h"
#include "joined.h"
#include "passes.h"

namespace tunesmith::network {
namespace {

bool is_identity(const Network& network, const Node& node) {
  if (node.inputs.empty() || node.inputs[0] == kAbsent) return false;
  const NodeInput input = input_of(network.tensors[static_cast<size_t>(node.inputs[0])]);
  const auto present =
      std::ranges::count_if(node.outputs, [](TensorIndex output) { return output != kAbsent; });
  if (present != 1 || node.outputs[0] == kAbsent) return false;
  const Computation computation = define(node, inputs_of(network, node)).computation;
  return computation.outputs[0].shape == input.type.shape &&
         computation.outputs[0].dtype == input.type.dtype &&
         computation.compute == copy_statement(input.type.shape);
}

void replace_uses(Network& network, TensorIndex from, TensorIndex to) {
  for (Node& node : network.nodes) std::ranges::replace(node.inputs, from, to);
}

/// A result of the network keeps its tensor: then the node before computes it. False where that is not
/// possible.
bool bypass(Network& network, const Node& node) {
  const TensorIndex input = node.inputs[0];
  const TensorIndex output = node.outputs[0];
  const auto is_result = [&](TensorIndex tensor) {
    return std::ranges::find(network.outputs, tensor) != network.outputs.end();
  };
  if (!is_result(output)) {
    replace_uses(network, output, input);
    return true;
  }
  const auto producer = std::ranges::find_if(network.nodes, [&](const Node& each) {
    return std::ranges::find(each.outputs, input) != each.outputs.end();
  });
  if (is_result(input) || producer == network.nodes.end()) return false;
  std::ranges::replace(producer->outputs, input, output);
  replace_uses(network, input, output);
  return true;
}

}  // namespace

void drop_identities(Network& network, const PassOptions&) {
  for (size_t i = 0; i < network.nodes.size();) {
    const Node node = network.nodes[i];
    if (is_identity(network, node) && bypass(network, node)) {
      network.nodes.erase(network.nodes.begin() + static_cast<int64_t>(i));
    } else {
      ++i;
    }
  }
}

}  // namespace tunesmith::network
