#include "linear.h"

#include <algorithm>

#include "tunesmith/ir/regions.h"
#include "tunesmith/network/node_workload.h"

namespace tunesmith::network {
namespace {

/// The position among the node's inputs of the array that the expression loads from.
std::optional<size_t> loaded_input(const Node& node, const NodeWorkload& made, const Expr& value) {
  const auto* load = value.as<LoadNode>();
  if (load == nullptr || load->mask()) return std::nullopt;
  const auto input = std::ranges::find(made.workload.program.inputs, load->buffer);
  if (input == made.workload.program.inputs.end()) return std::nullopt;
  const TensorIndex tensor = made.inputs[static_cast<size_t>(input - made.workload.program.inputs.begin())];
  return static_cast<size_t>(std::ranges::find(node.inputs, tensor) - node.inputs.begin());
}

bool is_one_number(const Network& network, TensorIndex index) {
  const Tensor& tensor = network.tensors[static_cast<size_t>(index)];
  return tensor.constant != nullptr && element_count(tensor.constant->shape) == 1;
}

}  // namespace

std::optional<size_t> scaled_input(const Network& network, size_t node) {
  const Node& of = network.nodes[node];
  const size_t position[] = {node};
  const NodeWorkload made = workload_of(network, position);
  const std::vector<Block*> blocks = made.workload.program.blocks();
  const Store* store = blocks.size() == 1 ? body_store(*blocks.front()) : nullptr;
  if (store == nullptr || blocks.front()->init() != nullptr) return std::nullopt;
  const bool divides = store->value.is(ExprKind::Div);
  if (!divides && !store->value.is(ExprKind::Mul)) return std::nullopt;
  const std::optional<size_t> left = loaded_input(of, made, store->value.arg(0));
  const std::optional<size_t> right = loaded_input(of, made, store->value.arg(1));
  if (!left || !right) return std::nullopt;
  for (const auto& [scaled, scale, argument] : {std::tuple(*left, *right, 0), std::tuple(*right, *left, 1)}) {
    if (divides && argument == 1) continue;
    const auto* load = store->value.arg(static_cast<size_t>(argument)).as<LoadNode>();
    if (is_one_number(network, of.inputs[scale]) && !is_one_number(network, of.inputs[scaled]) &&
        equal_indices(load->indices(), store->indices) && load->buffer->shape == store->buffer->shape)
      return scaled;
  }
  return std::nullopt;
}

bool is_product(const Network& network, size_t node) {
  const Node& of = network.nodes[node];
  const size_t position[] = {node};
  const NodeWorkload made = workload_of(network, position);
  const std::vector<Block*> blocks = made.workload.program.blocks();
  ReductionPattern pattern;
  if (of.inputs.size() != 2 || blocks.size() != 1 || !match_reduction(*blocks.front(), &pattern) ||
      pattern.op != ExprKind::Add || !pattern.term.is(ExprKind::Mul))
    return false;
  const std::optional<size_t> left = loaded_input(of, made, pattern.term.arg(0));
  const std::optional<size_t> right = loaded_input(of, made, pattern.term.arg(1));
  return left && right && *left != *right;
}

}  // namespace tunesmith::network
