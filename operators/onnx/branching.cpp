// If: a known condition replaces the node by one branch; otherwise both branches run and a select chooses.
#include <fmt/format.h>

#include "graph.h"
#include "registry.h"
#include "statements.h"

namespace tunesmith::operators_onnx {
namespace {

/// The single bool that says which branch it is; nothing where it is data.
std::optional<bool> known_condition(const NodeReader& node, size_t input) {
  node.refuse_unless(node.dtype(input).is_bool() && element_count(node.shape(input)) == 1,
                     "the condition is not a single bool");
  const Constant* known = node.constant(input);
  return known ? std::optional(integer_elements(*known)[0] != 0) : std::nullopt;
}

bool replace_if(const NodeReader& node, network::Expansion& to) {
  if (node.node().bodies.empty()) return false;
  const auto given = [&](const char* branch) {
    std::vector<TensorIndex> made = to.add_body(node.body(branch), {});
    node.refuse_unless(made.size() == node.output_count(),
                       fmt::format("attribute '{}' is not a graph of as many outputs", branch));
    return made;
  };
  if (const auto condition = known_condition(node, 0)) {
    const auto made = given(*condition ? "then_branch" : "else_branch");
    for (size_t i = 0; i < made.size(); ++i) to.give(i, made[i]);
    return true;
  }
  // Branches have no side effects, so both may be computed.
  network::Node choice{node.node().name,    "If",   node.version(), {}, {node.node().inputs[0]},
                       node.node().outputs, nullptr};
  for (const char* branch : {"then_branch", "else_branch"}) {
    const auto made = given(branch);
    choice.inputs.insert(choice.inputs.end(), made.begin(), made.end());
  }
  to.add(std::move(choice));
  return true;
}

/// Chooses between the results of both branches by the condition.
Computation choose(const NodeReader& node) {
  const size_t count = node.output_count();
  node.refuse_unless(node.given_count() == 1 + 2 * count, "its branches are missing");
  const std::optional<bool> known = known_condition(node, 0);
  const std::string condition =
      known ? (*known ? "true" : "false") : element(in(0), Indices(node.rank(0), "0"));
  Computation made;
  for (size_t i = 0; i < count; ++i) {
    const TensorType& type = node.type(1 + i);
    if (type.shape != node.shape(1 + count + i) || type.dtype != node.dtype(1 + count + i))
      node.refuse(
          "its condition is data, and its branches give other types or shapes",
          "taken are conditions that follow from shapes and constants, and branches that give the same");
    made.outputs.push_back(type);
    if (node.wants(i))
      made.compute +=
          statement(out(i), type.shape,
                    fmt::format("select({}, {}, {})", condition, broadcast(in(1 + i), type.shape, type.shape),
                                broadcast(in(1 + count + i), type.shape, type.shape)));
  }
  return made;
}

}  // namespace

std::vector<Row> branching_operators() { return {{"If", 1, choose, true, false, replace_if}}; }

}  // namespace tunesmith::operators_onnx
