#include "passes.h"

namespace tunesmith::network {

/// What is not found is refused by fix_shapes, which knows the nodes that no result needs.
void resolve(Network& network, const PassOptions& options) {
  for (Node& node : network.nodes)
    if (!node.definition) node.definition = options.find_operator(node.op, node.version);
}

}  // namespace tunesmith::network
