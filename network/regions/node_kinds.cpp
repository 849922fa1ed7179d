#include "node_kinds.h"

#include <algorithm>

#include "joined.h"
#include "tunesmith/analysis/blocks.h"
#include "tunesmith/network/node_workload.h"

namespace tunesmith::network {
namespace {

int64_t largest(const Network& network, const std::vector<TensorIndex>& tensors, bool constants) {
  int64_t elements = 0;
  for (const TensorIndex tensor : tensors) {
    if (tensor == kAbsent) continue;
    const Tensor& of = network.tensors[static_cast<size_t>(tensor)];
    if (constants || of.constant == nullptr)
      elements = std::max(elements, element_count(input_of(of).type.shape));
  }
  return elements;
}

std::vector<TensorIndex> varying_inputs(const Network& network, const Node& node) {
  std::vector<TensorIndex> inputs;
  for (const TensorIndex input : node.inputs) {
    if (input != kAbsent && network.tensors[static_cast<size_t>(input)].constant == nullptr)
      inputs.push_back(input);
  }
  return inputs;
}

bool reads_one_tensor(const Network& network, const Node& node) {
  const std::vector<TensorIndex> inputs = varying_inputs(network, node);
  return !inputs.empty() &&
         std::ranges::all_of(inputs, [&](TensorIndex input) { return input == inputs[0]; });
}

NodeKind kind_of(const Network& network, size_t node) {
  const size_t position[] = {node};
  const NodeWorkload made = workload_of(network, position);
  bool reduces = false, tiles = false;
  for (const Block* block : made.workload.program.blocks()) {
    reduces |= block->has_reduction();
    tiles |= needs_tiling(*block);
  }
  if (tiles) return NodeKind::Contraction;
  if (reduces) return NodeKind::Reduction;
  return made.workload.flops == 0.0 && reads_one_tensor(network, network.nodes[node]) ? NodeKind::View
                                                                                      : NodeKind::Elementwise;
}

}  // namespace

std::vector<NodeFacts> node_facts(const Network& network) {
  std::vector<NodeFacts> facts;
  for (size_t i = 0; i < network.nodes.size(); ++i) {
    const Node& node = network.nodes[i];
    facts.push_back({kind_of(network, i), largest(network, node.outputs, true),
                     largest(network, node.inputs, false), varying_inputs(network, node).size()});
  }
  return facts;
}

}  // namespace tunesmith::network
