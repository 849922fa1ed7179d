#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>

#include "passes.h"

namespace tunesmith::network {
namespace {

std::string_view bytes_of(const Constant& constant) {
  return {reinterpret_cast<const char*>(constant.bytes.data()), constant.bytes.size()};
}

/// For each tensor the first one that is a constant of the same value, or itself.
std::vector<TensorIndex> first_equal_constants(const Network& network) {
  std::map<std::tuple<std::string, Shape, std::string_view>, TensorIndex> first;
  std::vector<TensorIndex> result;
  for (size_t i = 0; i < network.tensors.size(); ++i) {
    const auto index = static_cast<TensorIndex>(i);
    const Constant* constant = network.tensors[i].constant.get();
    result.push_back(
        constant == nullptr
            ? index
            : first.try_emplace({constant->dtype.str(), constant->shape, bytes_of(*constant)}, index)
                  .first->second);
  }
  return result;
}

bool computes_the_same(const Node& a, const Node& b) {
  return a.definition == b.definition && a.op == b.op && a.version == b.version && a.inputs == b.inputs &&
         a.attributes == b.attributes && a.outputs.size() == b.outputs.size();
}

}  // namespace

void eliminate_common_subexpressions(Network& network, const PassOptions& /*options*/) {
  std::vector<TensorIndex> same = first_equal_constants(network);
  const auto is_result = [&](TensorIndex tensor) {
    return std::ranges::find(network.outputs, tensor) != network.outputs.end();
  };
  std::vector<Node> kept;
  for (Node& node : network.nodes) {
    for (TensorIndex& input : node.inputs) {
      if (input != kAbsent) input = same[static_cast<size_t>(input)];
    }
    const auto earlier =
        std::ranges::find_if(kept, [&](const Node& other) { return computes_the_same(other, node); });
    if (earlier == kept.end() || std::ranges::any_of(node.outputs, is_result)) {
      kept.push_back(std::move(node));
      continue;
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      TensorIndex& of_earlier = earlier->outputs[i];
      if (of_earlier == kAbsent)
        of_earlier = node.outputs[i];
      else if (node.outputs[i] != kAbsent)
        same[static_cast<size_t>(node.outputs[i])] = of_earlier;
    }
  }
  network.nodes = std::move(kept);
}

}  // namespace tunesmith::network
