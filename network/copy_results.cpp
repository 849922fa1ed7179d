#include <algorithm>
#include <utility>

#include "copy.h"
#include "joined.h"
#include "loops/repetition.h"
#include "passes.h"
#include "unique_name.h"

namespace tunesmith::network {
namespace {

TensorIndex add_copy(Network& network, TensorIndex of) {
  Tensor copy = network.tensor(of);
  copy.name = unique_name(network, copy.name);
  return network.add(std::move(copy));
}

void add_node(Network& network, TensorIndex from, TensorIndex to) {
  const std::string name = unique_name(network, "copy of " + network.tensor(to).name);
  network.nodes.push_back(copy_node(name, from, to));
}

/// Gives loop-carried tensors their own memory: copies them before the loop, and after it if they are results
/// of the network. Returns the number of added nodes.
size_t copy_carried(Network& network, size_t position) {
  Node node = network.nodes[position];
  std::vector<Node> before, after;
  const auto add_to = [&](std::vector<Node>& nodes, TensorIndex from, TensorIndex to) {
    add_node(network, from, to);
    nodes.push_back(std::move(network.nodes.back()));
    network.nodes.pop_back();
  };
  for (size_t i = 0; i < repetition_of(node).carried; ++i) {
    const TensorIndex first = add_copy(network, node.inputs[i]);
    network.tensor(first).constant = nullptr;
    add_to(before, std::exchange(node.inputs[i], first), first);
    TensorIndex& last = node.outputs[i];
    if (last == kAbsent || std::ranges::find(network.outputs, last) == network.outputs.end()) continue;
    const TensorIndex result = std::exchange(last, add_copy(network, last));
    add_to(after, last, result);
  }
  network.nodes[position] = std::move(node);
  const auto at = network.nodes.begin() + static_cast<std::ptrdiff_t>(position);
  network.nodes.insert(at + 1, after.begin(), after.end());
  network.nodes.insert(network.nodes.begin() + static_cast<std::ptrdiff_t>(position), before.begin(),
                       before.end());
  return before.size() + after.size();
}

}  // namespace

void copy_results(Network& network, const PassOptions& /*options*/) {
  for (size_t i = 0; i < network.nodes.size(); ++i)
    if (is_repetition(network.nodes[i])) i += copy_carried(network, i);
  for (TensorIndex& output : network.outputs) {
    if (has_no_elements(network.tensor(output))) continue;
    if (network.tensor(output).constant != nullptr) {
      // The copy gets the result's name; readers use the constant itself.
      const TensorIndex values = add_copy(network, output);
      network.tensor(output).constant = nullptr;
      for (Node& node : network.nodes) std::ranges::replace(node.inputs, output, values);
      add_node(network, values, output);
    } else if (std::ranges::find(network.inputs, output) != network.inputs.end()) {
      const TensorIndex input = output;
      output = add_copy(network, input);
      add_node(network, input, output);
    }
  }
}

}  // namespace tunesmith::network
