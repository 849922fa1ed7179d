#include <algorithm>

#include "passes.h"
#include "values.h"

namespace tunesmith::network {

void fold_constants(Network& network, const PassOptions&) {
  const auto tensor = [&](TensorIndex index) -> Tensor& {
    return network.tensors[static_cast<size_t>(index)];
  };
  for (const Node& node : network.nodes) {
    const bool is_constant = std::ranges::all_of(
        node.inputs, [&](TensorIndex input) { return input == kAbsent || tensor(input).constant; });
    if (!is_constant) continue;
    const DefinedNode defined = define(node, inputs_of(network, node));
    std::map<TensorIndex, tunesmith::Tensor> values;
    for (const TensorIndex input : node.inputs)
      if (input != kAbsent) values.emplace(input, to_tensor(*tensor(input).constant));
    auto made =
        compute(defined, [&](TensorIndex index) -> const tunesmith::Tensor& { return values.at(index); });
    for (size_t i = 0; i < made.size(); ++i)
      if (made[i] && node.outputs[i] != kAbsent)
        tensor(node.outputs[i]).constant = to_constant(std::move(*made[i]));
  }
  remove_constant_nodes(network);
}

}  // namespace tunesmith::network
