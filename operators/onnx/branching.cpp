// If: a known condition replaces the node by one branch; otherwise both branches run and a select chooses.
#include <algorithm>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "counted.h"
#include "graph.h"
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

TensorIndex zeros(network::Expansion& to, DType dtype, const Shape& shape) {
  const auto bytes = static_cast<size_t>(element_count(shape) * dtype.bytes());
  return to.make_constant(make_constant(dtype, shape, std::vector<std::byte>(bytes)));
}

/// A branch's result with `bound` elements along an axis, behind those that it has.
TensorIndex lengthened(const NodeReader& node, network::Expansion& to, size_t input, size_t axis,
                       int64_t bound) {
  Shape shape = node.shape(input);
  const int64_t extent = std::exchange(shape[axis], bound);
  if (extent == 0) return zeros(to, node.dtype(input), shape);
  const TensorIndex whole = to.whole(node.input(input));
  shape[axis] = bound - extent;
  if (extent == bound) return whole;
  return Graph(to).concat({whole, zeros(to, node.dtype(input), shape)}, static_cast<int64_t>(axis));
}

/// The axis along which both results have other numbers of elements, by their shapes or by data.
std::optional<size_t> varied_axis(const NodeReader& node, size_t input, size_t other) {
  std::set<size_t> axes;
  for (const size_t each : {input, other})
    if (const auto count = node.count(each)) axes.insert(count->axis);
  const Shape &a = node.shape(input), &b = node.shape(other);
  if (a.size() != b.size()) return std::nullopt;
  for (size_t axis = 0; axis < a.size(); ++axis)
    if (a[axis] != b[axis]) axes.insert(axis);
  return axes.size() == 1 ? std::optional(*axes.begin()) : std::nullopt;
}

/// The results of two branches, by the numbers of the node's inputs.
struct Branches {
  size_t yes, no;
};

bool are_alike(const NodeReader& node, const Branches& of) {
  return node.shape(of.yes) == node.shape(of.no) && !node.count(of.yes) && !node.count(of.no);
}

/// Chooses between results that differ in their extents along an axis.
void choose_extent(const NodeReader& node, network::Expansion& to, size_t output, const Branches& of,
                   size_t axis) {
  Graph graph(to);
  const auto choose = [&](TensorIndex yes, TensorIndex no) {
    return graph.add("If", {node.input(0), yes, no});
  };
  const auto extent = [&](size_t input) {
    const auto count = node.count(input);
    return count ? count->by : graph.integer(node.shape(input)[axis]);
  };
  const int64_t bound = std::max(node.shape(of.yes)[axis], node.shape(of.no)[axis]);
  const TensorIndex chosen =
      choose(lengthened(node, to, of.yes, axis, bound), lengthened(node, to, of.no, axis, bound));
  to.give(output, counted(to, chosen, axis, bound, choose(extent(of.yes), extent(of.no))));
}

/// Where data choose between branches whose results differ in one extent, this is data, too.
bool choose_extents(const NodeReader& node, network::Expansion& to) {
  const size_t count = node.output_count();
  if (node.given_count() != 1 + 2 * count || node.constant(0) != nullptr) return false;
  std::vector<std::optional<size_t>> axes(count);
  bool all_alike = true;
  for (size_t i = 0; i < count; ++i) {
    const Branches of{1 + i, 1 + count + i};
    if (are_alike(node, of)) continue;
    all_alike = false;
    axes[i] = varied_axis(node, of.yes, of.no);
    if (!axes[i] || node.dtype(of.yes) != node.dtype(of.no)) return false;
  }
  if (all_alike) return false;
  for (size_t i = 0; i < count; ++i) {
    const Branches of{1 + i, 1 + count + i};
    const auto& inputs = node.node().inputs;
    if (axes[i])
      choose_extent(node, to, i, of, *axes[i]);
    else
      to.give(i, Graph(to).add("If", {inputs[0], inputs[of.yes], inputs[of.no]}));
  }
  return true;
}

bool replace_if(const NodeReader& node, network::Expansion& to) {
  if (node.node().bodies.empty()) return choose_extents(node, to);
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
  network::Node choice{node.node().name,    "If",   node.version(), {}, {node.input(0)},
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
      made.compute += statement(out(i), type.shape,
                                fmt::format("select({}, {}, {})", condition, here(in(1 + i), type.shape),
                                            here(in(1 + count + i), type.shape)));
  }
  return made;
}

}  // namespace

std::vector<Row> branching_operators() { return {{"If", 1, choose, true, false, replace_if}}; }

}  // namespace tunesmith::operators_onnx
