#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <string_view>
#include <tuple>

#include "passes.h"

namespace tunesmith::network {
namespace {

std::string_view bytes_of(const Constant& constant) {
  return {reinterpret_cast<const char*>(constant.bytes.data()), constant.bytes.size()};
}

/// For each tensor the first constant with the same value, or the tensor itself.
std::vector<TensorIndex> first_equal_constants(const Network& network) {
  std::map<std::tuple<std::string, Code, Shape, std::string_view>, TensorIndex> first;
  std::vector<TensorIndex> result;
  for (size_t i = 0; i < network.tensors.size(); ++i) {
    const auto index = static_cast<TensorIndex>(i);
    const Constant* constant = network.tensors[i].constant.get();
    if (constant == nullptr) {
      result.push_back(index);
      continue;
    }
    const auto [place, is_new] = first.try_emplace(
        {constant->dtype.str(), network.tensors[i].code, constant->shape, bytes_of(*constant)}, index);
    result.push_back(place->second);
  }
  return result;
}

/// Nodes with equal keys compute the same.
using Key = std::tuple<std::string_view, int64_t, std::vector<TensorIndex>>;

bool computes_the_same(const Node& a, const Node& b) {
  return a.definition == b.definition && a.attributes == b.attributes &&
         a.outputs.size() == b.outputs.size() && a.bodies.empty() && b.bodies.empty();
}

}  // namespace

void eliminate_common_subexpressions(Network& network, const PassOptions& /*options*/) {
  std::vector<TensorIndex> same = first_equal_constants(network);
  const std::set<TensorIndex> results(network.outputs.begin(), network.outputs.end());
  const auto is_result = [&](TensorIndex tensor) { return results.contains(tensor); };
  std::deque<Node> kept;  // keeps the addresses of nodes stable
  std::multimap<Key, Node*> earlier_nodes;
  for (Node& node : network.nodes) {
    for (TensorIndex& input : node.inputs) {
      if (input != kAbsent) input = same[static_cast<size_t>(input)];
    }
    const auto [first, last] = earlier_nodes.equal_range({node.op, node.version, node.inputs});
    const auto found = std::ranges::find_if(
        first, last, [&](const Node* other) { return computes_the_same(*other, node); },
        &std::pair<const Key, Node*>::second);
    if (found == last || std::ranges::any_of(node.outputs, is_result)) {
      Node& added = kept.emplace_back(std::move(node));
      earlier_nodes.insert({{added.op, added.version, added.inputs}, &added});
      continue;
    }
    Node* const earlier = found->second;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      TensorIndex& of_earlier = earlier->outputs[i];
      if (of_earlier == kAbsent)
        of_earlier = node.outputs[i];
      else if (node.outputs[i] != kAbsent)
        same[static_cast<size_t>(node.outputs[i])] = of_earlier;
    }
  }
  network.nodes.assign(std::make_move_iterator(kept.begin()), std::make_move_iterator(kept.end()));
}

}  // namespace tunesmith::network
