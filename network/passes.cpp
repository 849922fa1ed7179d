#include "passes.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "loops/repetition.h"

namespace tunesmith::network {
namespace {

constexpr std::array<Pass, 14> kPasses{{
    {"resolve", "Finds the definition of each operator.", resolve},
    {"fix_shapes",
     "Gives named extents their values and all tensors types and shapes; evaluates what follows from small "
     "constants.",
     fix_shapes},
    {"move_dequantization",
     "Moves, chooses and joins bytes, not the numbers that they stand for; drops numbers made of bytes for "
     "the "
     "same bytes.",
     move_dequantization},
    {"multiply_integers",
     "Computes products and convolutions of dequantized bytes as sums of integers, which are scaled.",
     multiply_integers},
    {"fold_constants", "Evaluates all nodes whose inputs are constant.", fold_constants},
    {"drop_identities", "Removes nodes whose output is their input.", drop_identities},
    {"eliminate_common_subexpressions", "Computes once what several nodes compute from the same inputs.",
     eliminate_common_subexpressions},
    {"eliminate_dead_code", "Removes nodes and outputs that nothing reads.", eliminate_dead_code},
    {"move_scales", "Multiplies a product's result by a number, not what it reads.", move_scales},
    {"merge_products", "Makes one of products that read one tensor and differ in their weights.",
     merge_products},
    {"copy_results", "Gives results that are inputs or constants a node that copies them.", copy_results},
    {"choose_layouts", "Lets images lie with their channels last between nodes.", choose_layouts},
    {"join_in_place", "Lets the operands of a concatenation be computed directly in its result.",
     join_in_place},
    {"place_loops", "Puts the body of each loop in its place; what it carries lies in two places by turns.",
     place_loops},
}};

/// Bodies of loops are networks of their own, which the pass on the enclosing network does not reach.
void run_on_bodies(const Pass& pass, Network& network, const PassOptions& options) {
  for (Node& node : network.nodes)
    if (is_repetition(node)) change_body(node, [&](Network& body) { pass.run(body, options); });
}

}  // namespace

std::span<const Pass> passes() { return kPasses; }

void run_passes(Network& network, const PassOptions& options,
                const std::function<void(const Pass&, const Network&)>& after) {
  for (const Pass& pass : kPasses) {
    pass.run(network, options);
    if (pass.run != fix_shapes) run_on_bodies(pass, network, options);
    check_invariants(network);
    if (after) after(pass, network);
  }
}

void Refusals::raise(const std::string& summary) const {
  if (refusals_.empty()) return;
  throw RefusedNodes(fmt::format("{}:\n  {}", summary, fmt::join(messages_, "\n  ")), refusals_);
}

void remove_constant_nodes(Network& network) {
  for (Node& node : network.nodes)
    for (TensorIndex& output : node.outputs)
      if (output != kAbsent && network.tensors[static_cast<size_t>(output)].constant) output = kAbsent;
  std::erase_if(network.nodes, [](const Node& node) {
    return std::ranges::all_of(node.outputs, [](TensorIndex output) { return output == kAbsent; });
  });
}

}  // namespace tunesmith::network
