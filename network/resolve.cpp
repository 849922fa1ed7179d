#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "passes.h"

namespace tunesmith::network {

void resolve(Network& network, const PassOptions& options) {
  std::map<std::pair<std::string, int64_t>, std::vector<std::string>>
      unknown;  // operator and version -> nodes
  for (Node& node : network.nodes) {
    if (!node.definition) node.definition = options.find_operator(node.op, node.version);
    if (!node.definition) unknown[{node.op, node.version}].push_back(node.name);
  }
  Refusals refusals;
  for (const auto& [op, nodes] : unknown)
    refusals.add({op.first, "the operator is not there yet"},
                 fmt::format("{}@{}: {}", op.first, op.second, fmt::join(nodes, ", ")));
  refusals.raise(fmt::format("network '{}' has operators that are not there yet", network.name));
}

}  // namespace tunesmith::network
