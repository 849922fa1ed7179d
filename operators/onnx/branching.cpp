// If: the importer makes nodes of both branches, and what they give inputs of the node.
#include <fmt/format.h>

#include "registry.h"
#include "statements.h"

namespace tunesmith::operators_onnx {
namespace {

/// As many outputs as inputs, one for each.
Computation passed_on(const NodeReader& node) {
  Computation made;
  for (size_t i = 0; i < node.output_count(); ++i) {
    const Shape& shape = node.shape(i);
    made.outputs.push_back(node.type(i));
    if (node.wants(i)) made.compute += statement(out(i), shape, broadcast(in(i), shape, shape));
  }
  return made;
}

/// Both branches compute nothing but their results, so both may be computed where the condition is data.
Computation if_else(const NodeReader& node) {
  const size_t count = node.output_count();
  if (node.given_count() == count) return passed_on(node);
  node.refuse_unless(
      node.given_count() == 1 + 2 * count && node.dtype(0).is_bool() && element_count(node.shape(0)) == 1,
      "the condition is not a single bool");
  Computation made;
  if (const Constant* known = node.constant(0)) {
    const size_t first = integer_elements(*known)[0] != 0 ? 1 : 1 + count;
    for (size_t i = 0; i < count; ++i) {
      made.enough.push_back(first + i);
      made.outputs.push_back({});
    }
    return made;
  }
  const std::string condition = element(in(0), Indices(node.rank(0), "0"));
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

std::vector<Row> branching_operators() { return {{"If", 1, if_else, true}}; }

}  // namespace tunesmith::operators_onnx
