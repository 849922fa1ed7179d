#include <algorithm>

#include "copy.h"
#include "joined.h"
#include "passes.h"
#include "unique_name.h"

namespace tunesmith::network {
namespace {

TensorIndex add_copy(Network& network, TensorIndex of) {
  Tensor copy = network.tensors[static_cast<size_t>(of)];
  copy.name = unique_name(network, copy.name);
  network.tensors.push_back(std::move(copy));
  return static_cast<TensorIndex>(network.tensors.size() - 1);
}

void add_node(Network& network, TensorIndex from, TensorIndex to) {
  const std::string name = unique_name(network, "copy of " + network.tensors[static_cast<size_t>(to)].name);
  network.nodes.push_back(copy_node(name, from, to));
}

}  // namespace

void copy_results(Network& network, const PassOptions& /*options*/) {
  for (TensorIndex& output : network.outputs) {
    if (has_no_elements(network.tensors[static_cast<size_t>(output)])) continue;
    if (network.tensors[static_cast<size_t>(output)].constant != nullptr) {
      // The result keeps its name, and whoever reads it the values.
      const TensorIndex values = add_copy(network, output);
      network.tensors[static_cast<size_t>(output)].constant = nullptr;
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
