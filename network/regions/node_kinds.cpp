#include "node_kinds.h"

#include <algorithm>

#include "joined.h"
#include "loops/repetition.h"
#include "parts.h"
#include "tunesmith/affine/simplify.h"
#include "tunesmith/analysis/blocks.h"
#include "tunesmith/ir/regions.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/network/node_workload.h"
#include "tunesmith/verification/reference.h"

namespace tunesmith::network {
namespace {

int64_t largest(const Network& network, const std::vector<TensorIndex>& tensors, bool constants) {
  int64_t elements = 0;
  for (const TensorIndex tensor : tensors) {
    if (tensor == kAbsent) continue;
    const Tensor& of = network.tensor(tensor);
    if (constants || of.constant == nullptr)
      elements = std::max(elements, element_count(input_of(of).type.shape));
  }
  return elements;
}

std::vector<TensorIndex> varying_inputs(const Network& network, const Node& node) {
  std::vector<TensorIndex> inputs;
  for (const TensorIndex input : node.inputs) {
    if (input != kAbsent && network.tensor(input).constant == nullptr) inputs.push_back(input);
  }
  return inputs;
}

bool reads_one_tensor(const Network& network, const Node& node) {
  const std::vector<TensorIndex> inputs = varying_inputs(network, node);
  return !inputs.empty() &&
         std::ranges::all_of(inputs, [&](TensorIndex input) { return input == inputs[0]; });
}

/// Does an index depend on more than one iterator?
bool has_windows(const Block& block) {
  return std::ranges::any_of(reads_of(block), [&](const Access& read) {
    return std::ranges::any_of(read.indices, [&](const Expr& index) {
      return std::ranges::count_if(block.iters, [&](const IterVar& iter) {
               return iter.extent > 1 && uses_var(index, iter.var);
             }) > 1;
    });
  });
}

/// Does it read at an index that is data?
bool gathers(const Block& block) {
  return any_of_exprs(block, [](const Expr& part) {
    const LoadNode* access = part.as<LoadNode>();
    return access != nullptr && std::ranges::any_of(access->indices(), [](const Expr& index) {
             return any_of_expr(index, [](const Expr& inner) { return inner.is(ExprKind::Load); });
           });
  });
}

/// Is each possible value of the expression an element of a varying array, or zero?
bool only_moves(const Expr& value) {
  if (const auto* load = value.as<LoadNode>()) return !load->buffer->constant;
  if (value.is(ExprKind::Select)) return only_moves(value.arg(1)) && only_moves(value.arg(2));
  const auto* number = value.as<FloatImm>();
  return number != nullptr ? number->value == 0.0 : is_const_int(value, 0);
}

/// Does it compare floating-point elements with each other?
bool compares_elements(const Block& block) {
  const auto loads = [](const Expr& side) {
    return any_of_expr(side, [](const Expr& part) { return part.is(ExprKind::Load); });
  };
  return any_of_exprs(block, [&](const Expr& part) {
    const bool compares =
        part.is(ExprKind::Eq) || part.is(ExprKind::Ne) || part.is(ExprKind::Lt) || part.is(ExprKind::Le);
    return compares && part.arg(0).dtype().is_float() && loads(part.arg(0)) && loads(part.arg(1)) &&
           !equal(part.arg(0), part.arg(1));
  });
}

/// Is each element computed from the element of a narrower tensor (8 or 16 bits) at the same place? Then
/// every reader computes it, and only the narrow tensor is in memory.
bool widens(const Network& network, const Node& node, const Program& program) {
  if (node.outputs.size() != 1 || program.blocks().size() != 1 || !reads_one_tensor(network, node))
    return false;
  const Store* store = body_store(*program.blocks().front());
  if (store == nullptr || program.blocks().front()->has_reduction()) return false;
  const std::vector<Access> reads = reads_of(*program.blocks().front());
  return std::ranges::all_of(reads, [&](const Access& read) {
    const DType from = read.buffer->dtype;
    return read.buffer->constant ||
           (from.is_int() && from.bytes() <= 2 && from.bytes() < store->buffer->dtype.bytes() &&
            equal_indices(read.indices, store->indices));
  });
}

NodeFacts facts_of(const Network& network, size_t node) {
  const Node& of = network.nodes[node];
  if (is_repetition(of))
    return {NodeKind::Loop, largest(network, of.outputs, true), largest(network, of.inputs, false)};
  if (is_in_place(network, node)) return {NodeKind::InPlace};
  const NodeWorkload made = workload_of(network, {&node, 1});
  NodeFacts facts{NodeKind::Elementwise,
                  largest(network, of.outputs, true),
                  largest(network, of.inputs, false),
                  made.workload.program.blocks().size(),
                  varying_inputs(network, of).size(),
                  made.workload.flops > 0.0};
  if (!facts.computes && reads_one_tensor(network, of)) facts.kind = NodeKind::View;
  if (widens(network, of, made.workload.program)) facts.kind = NodeKind::View;
  for (const Block* block : made.workload.program.blocks()) {
    const Store* store = body_store(*block);
    facts.adds_numbers |= store == nullptr || !only_moves(store->value);
    if (gathers(*block) && facts.kind != NodeKind::Contraction && facts.kind != NodeKind::Reduction)
      facts.kind = NodeKind::Gather;
    if (needs_tiling(*block)) {
      facts.kind = NodeKind::Contraction;
      facts.has_windows |= has_windows(*block);
    } else if (block->has_reduction() && facts.kind != NodeKind::Contraction) {
      facts.kind = NodeKind::Reduction;
    }
  }
  const Program& program = made.workload.program;
  facts.rounds = std::ranges::count(has_bound(program, DataKind::Random), true) > 0;
  facts.chooses =
      (facts.kind == NodeKind::Reduction || facts.kind == NodeKind::Contraction) &&
      std::ranges::any_of(program.blocks(), [](const Block* block) { return compares_elements(*block); });
  return facts;
}

}  // namespace

std::vector<NodeFacts> node_facts(const Network& network) {
  std::vector<NodeFacts> facts;
  for (size_t i = 0; i < network.nodes.size(); ++i) facts.push_back(facts_of(network, i));
  return facts;
}

}  // namespace tunesmith::network
