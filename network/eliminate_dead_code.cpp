#include <algorithm>
#include <set>

#include "loops/repetition.h"
#include "passes.h"

namespace tunesmith::network {
namespace {

bool is_unused(const Node& node) {
  return std::ranges::all_of(node.outputs, [](TensorIndex output) { return output == kAbsent; });
}

}  // namespace

void eliminate_dead_code(Network& network, const PassOptions& /*options*/) {
  std::set<TensorIndex> read(network.outputs.begin(), network.outputs.end());
  // Backwards: what only unused nodes read is unused, too.
  for (size_t i = network.nodes.size(); i-- > 0;) {
    Node& node = network.nodes[i];
    std::ranges::replace_if(
        node.outputs, [&](TensorIndex output) { return !read.contains(output); }, kAbsent);
    if (is_repetition(node) && !is_unused(node)) drop_unread_outputs(node);
    if (!is_unused(node)) read.insert(node.inputs.begin(), node.inputs.end());
  }
  std::erase_if(network.nodes, is_unused);
}

}  // namespace tunesmith::network
