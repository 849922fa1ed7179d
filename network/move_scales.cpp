#include <algorithm>
#include <string>
#include <vector>

#include "joined.h"
#include "passes.h"
#include "regions/data_flow.h"
#include "regions/node_kinds.h"
#include "tunesmith/ir/regions.h"
#include "tunesmith/network/node_workload.h"
#include "unique_name.h"

namespace tunesmith::network {
namespace {

/// The node's input from which the expression loads.
std::optional<size_t> loaded_input(const Node& node, const NodeWorkload& made, const Expr& value) {
  const auto* load = value.as<LoadNode>();
  if (load == nullptr || load->mask()) return std::nullopt;
  const auto input = std::ranges::find(made.workload.program.inputs, load->buffer);
  if (input == made.workload.program.inputs.end()) return std::nullopt;
  const TensorIndex tensor = made.inputs[static_cast<size_t>(input - made.workload.program.inputs.begin())];
  return static_cast<size_t>(std::ranges::find(node.inputs, tensor) - node.inputs.begin());
}

bool is_one_number(const Network& network, TensorIndex index) {
  const Tensor& tensor = network.tensor(index);
  return tensor.constant != nullptr && element_count(tensor.constant->shape) == 1;
}

/// The input that the node multiplies or divides element-wise by a constant scalar; nothing if it computes
/// anything else.
std::optional<size_t> scaled_input(const Network& network, size_t node) {
  const Node& of = network.nodes[node];
  const NodeWorkload made = workload_of(network, {&node, 1});
  const std::vector<Block*> blocks = made.workload.program.blocks();
  const Store* store = blocks.size() == 1 ? body_store(*blocks.front()) : nullptr;
  if (store == nullptr || blocks.front()->init() != nullptr) return std::nullopt;
  if (!store->value.is(ExprKind::Div) && !store->value.is(ExprKind::Mul)) return std::nullopt;
  const std::optional<size_t> left = loaded_input(of, made, store->value.arg(0));
  const std::optional<size_t> right = loaded_input(of, made, store->value.arg(1));
  if (!left || !right) return std::nullopt;
  // join() puts the scalar of a product after what it scales.
  const auto* load = store->value.arg(0).as<LoadNode>();
  const bool scales =
      is_one_number(network, of.inputs[*right]) && !is_one_number(network, of.inputs[*left]) &&
      equal_indices(load->indices(), store->indices) && load->buffer->shape == store->buffer->shape;
  return scales ? left : std::nullopt;
}

/// Is each element of the result a sum of products of one element of each input?
bool is_product(const Network& network, size_t node) {
  const Node& of = network.nodes[node];
  const NodeWorkload made = workload_of(network, {&node, 1});
  const std::vector<Block*> blocks = made.workload.program.blocks();
  ReductionPattern pattern;
  if (of.inputs.size() != 2 || blocks.size() != 1 || !match_reduction(*blocks.front(), &pattern) ||
      pattern.op != ExprKind::Add || !pattern.term.is(ExprKind::Mul))
    return false;
  const std::optional<size_t> left = loaded_input(of, made, pattern.term.arg(0));
  const std::optional<size_t> right = loaded_input(of, made, pattern.term.arg(1));
  return left && right && *left != *right;
}

/// The product of data that reads the node's result, through views, if it is the only reader. All must be f32
/// or all f64: a sum in a narrow type could overflow if scaled late, and integer division has a remainder.
std::optional<size_t> product_after(const Network& network, const DataFlow& flow,
                                    const std::vector<NodeFacts>& facts, size_t node) {
  const auto type_of_result = [&](size_t of) {
    return *network.tensor(network.nodes[of].outputs.front()).dtype;
  };
  const DType type = type_of_result(node);
  if (type != kF32 && type != kF64) return std::nullopt;
  while (!flow.is_result(node) && flow.readers(node).size() == 1) {
    node = flow.readers(node).front();
    if (network.nodes[node].outputs.size() != 1 || type_of_result(node) != type) return std::nullopt;
    if (facts[node].kind == NodeKind::View && !facts[node].adds_numbers) continue;
    if (facts[node].kind != NodeKind::Contraction || facts[node].varying_inputs != 2 ||
        !is_product(network, node))
      return std::nullopt;
    return node;
  }
  return std::nullopt;
}

struct Move {
  std::string scale;  // name of the scaling node: nodes change their positions
  std::string product;
  size_t scaled = 0;  // the scaled input of `scale`
};

std::vector<Move> find_moves(const Network& network) {
  const DataFlow flow(network);
  const std::vector<NodeFacts> facts = node_facts(network);
  std::vector<Move> moves;
  for (size_t i = 0; i < network.nodes.size(); ++i) {
    if (facts[i].kind != NodeKind::Elementwise || network.nodes[i].outputs.size() != 1) continue;
    const auto product = product_after(network, flow, facts, i);
    const auto scaled = product ? scaled_input(network, i) : std::nullopt;
    if (scaled) moves.push_back({network.nodes[i].name, network.nodes[*product].name, *scaled});
  }
  return moves;
}

/// False if the scalar has more axes than the product's result.
bool apply(Network& network, const Move& move) {
  const auto scale = std::ranges::find(network.nodes, move.scale, &Node::name);
  const auto product = std::ranges::find(network.nodes, move.product, &Node::name);
  const TensorIndex result = product->outputs.front();
  Node moved = *scale;
  moved.inputs[move.scaled] = result;
  if (define(moved, inputs_of(network, moved)).computation.outputs.front().shape !=
      input_of(network.tensor(result)).type.shape)
    return false;
  const TensorIndex before = scale->inputs[move.scaled], after = scale->outputs.front();
  Tensor unscaled = network.tensor(result);
  unscaled.name = unique_name(network, unscaled.name + "/unscaled");
  const TensorIndex added = network.add(std::move(unscaled));
  product->outputs = {added};
  moved.inputs[move.scaled] = added;
  moved.outputs = {result};
  for (Node& node : network.nodes) std::ranges::replace(node.inputs, after, before);
  network.nodes.insert(product + 1, std::move(moved));
  network.nodes.erase(
      std::ranges::find(network.nodes, after, [](const Node& node) { return node.outputs.front(); }));
  return true;
}

}  // namespace

void move_scales(Network& network, const PassOptions& /*options*/) {
  for (bool any = true; any;) {
    any = false;
    for (const Move& move : find_moves(network)) any |= apply(network, move);
  }
}

}  // namespace tunesmith::network
