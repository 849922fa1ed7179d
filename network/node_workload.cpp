#include "tunesmith/network/node_workload.h"

#include <algorithm>
#include <cctype>
#include <set>

#include "joined.h"

namespace tunesmith::network {

namespace {

/// Named after the first operators: "conv_add_relu". The workload language limits names to 64 letters.
std::string name_of(const Network& network, std::span<const size_t> nodes) {
  constexpr size_t kMaxOperators = 6, kMaxLetters = 50;
  std::string name;
  for (size_t i = 0; i < nodes.size(); ++i) {
    std::string op;
    for (const char c : network.nodes[nodes[i]].op.substr(0, kMaxLetters))
      op += std::isalnum(static_cast<unsigned char>(c)) != 0
                ? static_cast<char>(std::tolower(static_cast<unsigned char>(c)))
                : '_';
    if (i == kMaxOperators || name.size() + op.size() > kMaxLetters) return name + "_and_more";
    name += (name.empty() ? "" : "_") + op;
  }
  return name;
}

NodeWorkload made_of(const Network& network, std::span<const size_t> nodes,
                     const std::function<bool(TensorIndex)>& is_result) {
  check_invariant(!nodes.empty() && std::ranges::is_sorted(nodes), "nodes to join are in ascending order");
  std::vector<DefinedNode> defined;
  for (const size_t node : nodes)
    defined.push_back(define(network.nodes[node], inputs_of(network, network.nodes[node])));
  NodeWorkload joined = join(name_of(network, nodes), defined, is_result, &network);
  if (joined.outputs.empty())
    throw UserError(describe(*defined.front().node) + " computes nothing: its outputs are constant");
  return joined;
}

}  // namespace

NodeWorkload workload_of(const Network& network, std::span<const size_t> nodes) {
  // A single node has no inner tensors: every output is a result.
  if (nodes.size() == 1) return made_of(network, nodes, [](TensorIndex) { return true; });
  const std::set<size_t> joined_nodes(nodes.begin(), nodes.end());
  std::set<TensorIndex> read_elsewhere(network.outputs.begin(), network.outputs.end());
  std::set<TensorIndex> read_within;
  for (size_t i = 0; i < network.nodes.size(); ++i) {
    const std::vector<TensorIndex>& inputs = network.nodes[i].inputs;
    (joined_nodes.contains(i) ? read_within : read_elsewhere).insert(inputs.begin(), inputs.end());
  }
  // The workload language refuses arrays without readers, so an unread tensor becomes a result, too.
  return made_of(network, nodes, [&](TensorIndex tensor) {
    return read_elsewhere.contains(tensor) || !read_within.contains(tensor);
  });
}

NodeWorkload workload_of(const Network& network, std::span<const size_t> nodes,
                         std::span<const TensorIndex> results) {
  return made_of(network, nodes,
                 [&](TensorIndex tensor) { return std::ranges::find(results, tensor) != results.end(); });
}

}  // namespace tunesmith::network
