#include "passes.h"

namespace tunesmith::network {

/// fix_shapes refuses unknown operators, because it knows which nodes a result needs.
void resolve(Network& network, const PassOptions& options) {
  for (Node& node : network.nodes)
    if (!node.definition) node.definition = options.find_operator(node.op, node.version);
}

}  // namespace tunesmith::network
