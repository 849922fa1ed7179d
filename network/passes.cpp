#include "passes.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "loops/repetition.h"

namespace tunesmith::network {
namespace {

constexpr std::array<Pass, 14> kPasses{{
    {"resolve", "Resolves the definition of each operator.", resolve},
    {"fix_shapes", "Infers types and shapes with the values of named extents; folds small constants.",
     fix_shapes},
    {"move_dequantization",
     "Moves, selects and concatenates quantized bytes instead of dequantized numbers; removes "
     "requantizations to the same bytes.",
     move_dequantization},
    {"multiply_integers",
     "Computes products and convolutions of dequantized bytes in integers and scales the sums.",
     multiply_integers},
    {"fold_constants", "Folds constants.", fold_constants},
    {"drop_identities", "Removes identity nodes.", drop_identities},
    {"eliminate_common_subexpressions", "Eliminates common subexpressions.", eliminate_common_subexpressions},
    {"eliminate_dead_code", "Eliminates dead nodes and outputs.", eliminate_dead_code},
    {"move_scales", "Moves scalar factors from a product's operands to its result.", move_scales},
    {"merge_products", "Merges products that read one tensor with different weights.", merge_products},
    {"copy_results", "Adds copy nodes for results that are inputs or constants.", copy_results},
    {"choose_layouts", "Stores images with channels last between nodes.", choose_layouts},
    {"join_in_place", "Computes the operands of a concatenation directly in its result.", join_in_place},
    {"place_loops", "Inlines loop bodies; carried tensors alternate between two buffers.", place_loops},
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

void Refusals::raise(const std::string& summary, const Network& network) const {
  if (refusals_.empty()) return;
  throw RefusedNodes(fmt::format("{}:\n  {}", summary, fmt::join(messages_, "\n  ")), refusals_, network);
}

void remove_constant_nodes(Network& network) {
  for (Node& node : network.nodes)
    for (TensorIndex& output : node.outputs)
      if (output != kAbsent && network.tensor(output).constant) output = kAbsent;
  std::erase_if(network.nodes, [](const Node& node) {
    return std::ranges::all_of(node.outputs, [](TensorIndex output) { return output == kAbsent; });
  });
}

}  // namespace tunesmith::network
