#include <algorithm>

#include "loops/repetition.h"
#include "passes.h"
#include "values.h"

namespace tunesmith::network {

void fold_constants(Network& network, const PassOptions&) {
  for (Node& node : network.nodes) {
    if (is_repetition(node)) {
      give_constants(network, node);
      continue;
    }
    const bool is_constant = std::ranges::all_of(
        node.inputs, [&](TensorIndex input) { return input == kAbsent || network.tensor(input).constant; });
    if (is_constant) fold(network, define(node, inputs_of(network, node)));
  }
  remove_constant_nodes(network);
}

}  // namespace tunesmith::network
