// Operators that choose by position: of the largest, of an index, of a triangle.
#include <algorithm>

#include <fmt/format.h>

#include "counted.h"
#include "reduced.h"
#include "registry.h"

namespace tunesmith::operators_onnx {
namespace {

/// A NaN counts as the largest and as the smallest. t0 is the extreme of each row. The result is the minimum
/// (last: maximum) of the positions of elements equal to t0, below (above) which those of NaNs are moved.
Computation arg(const NodeReader& node, std::string_view kind) {
  const DType dtype = node.dtype(0);
  node.refuse_unless(!dtype.is_bool(), "expected numbers");
  const Shape& shape = node.shape(0);
  const size_t axis = node.axis(node.integer("axis", 0), shape.size());
  const bool last = node.flag("select_last_index", false);
  const Reduced reduced = reduce(shape, {axis}, node.flag("keepdims", true));
  const int64_t extent = shape[axis];
  const std::string x = element(in(0), reduced.read);
  const std::string is_extreme =
      fmt::format("{} == {}", x, broadcast(temporary(0), reduced.output, reduced.output));
  std::string position = last ? fmt::format("select({}, r0, 0)", is_extreme)
                              : fmt::format("select({}, r0 + {}, {})", is_extreme, extent, 2 * extent - 1);
  if (dtype.is_float())
    position =
        fmt::format("select({0} != {0}, r0{1}, {2})", x, last ? fmt::format(" + {}", extent) : "", position);
  const std::string text =
      statement(temporary(0), reduced.output, reduced.reduction(kind, x)) +
      statement(temporary(1), reduced.output,
                reduced.reduction(last ? "max" : "min", "i64(" + position + ")")) +
      statement(out(0), reduced.output,
                fmt::format("{} % {}", broadcast(temporary(1), reduced.output, reduced.output), extent));
  return computed(kI64, reduced.output, text);
}

/// t0 is the rank of each element in its row: the number of elements that come before it, larger ones and
/// equal ones at lower positions. The element of rank k is element k of the output. A third input, which ONNX
/// does not have, is the number of elements that exist.
Computation top_k(const NodeReader& node) {
  const DType dtype = node.dtype(0);
  node.refuse_unless(!dtype.is_bool(), "expected numbers");
  node.ignore("sorted");  // sorted output is one of the allowed orders
  const Shape& shape = node.shape(0);
  const size_t axis = node.axis(node.integer("axis", -1), shape.size());
  const int64_t count = node.integer_of(1, "K");
  node.refuse_unless(count >= 1 && count <= shape[axis], "'K' is not between 1 and the axis' extent");
  Indices at = axis_names(shape.size());
  const std::string position = at[axis];
  const std::string here = element(in(0), at);
  at[axis] = "r0";
  const std::string there = element(in(0), at);
  const std::string exists = node.has(2) ? "r0 < in2[0] and " : "";
  const std::string before = fmt::format("{}({} {} {} or {} == {} and r0 < {})", exists, there,
                                         node.flag("largest", true) ? ">" : "<", here, there, here, position);
  std::string text =
      statement(temporary(0), shape, fmt::format("sum(r0<{}) select({}, i64(1), 0)", shape[axis], before));
  Shape result = shape;
  result[axis] = count;
  const auto pick = [&](const std::string& value) {
    return fmt::format("sum(r0<{}) select({}{} == {}, {}, 0)", shape[axis], exists, element(temporary(0), at),
                       position, value);
  };
  if (node.wants(0)) text += statement(out(0), result, pick(there));
  if (node.wants(1)) text += statement(out(1), result, pick("i64(r0)"));
  return {{{dtype, result}, {kI64, result}}, {}, text};
}

/// Where K, or the number of elements to choose from, is data: the highest K, and a count.
bool top_k_by_data(const NodeReader& node, network::Expansion& to) {
  const size_t axis = node.axis(node.integer("axis", -1), node.rank(0));
  const auto count = node.count(0);
  const bool along = count && count->axis == axis;
  if (node.has(2) || (!along && node.constant(1) != nullptr)) return false;
  node.refuse_unless(element_count(node.shape(1)) == 1, "'K' is not a single value");
  Graph graph(to);
  int64_t bound = node.shape(0)[axis];
  if (node.constant(1) != nullptr) bound = std::clamp<int64_t>(node.integer_of(1, "K"), 1, bound);
  std::vector<TensorIndex> inputs{along ? to.whole(node.node().inputs[0]) : node.node().inputs[0],
                                  graph.integers({bound})};
  if (along) inputs.push_back(count->by);
  const auto made = graph.add_all("TopK", inputs, node.node().attributes, 2);
  const TensorIndex existing = along ? count->by : graph.integer(bound);
  const TensorIndex chosen = graph.add("Min", {graph.reshape(node.node().inputs[1], {}), existing});
  for (const auto& [name, value] : node.node().attributes) node.ignore(name);
  for (size_t i = 0; i < 2; ++i)
    if (node.wants(i)) to.give(i, counted(to, made[i], axis, bound, chosen));
  return true;
}

Computation one_hot(const NodeReader& node) {
  const int64_t depth = static_cast<int64_t>(node.numbers_of(1, "depth").at(0));
  node.refuse_unless(depth >= 1, "'depth' is below 1");
  node.refuse_unless(node.shape(2) == Shape{2}, "'values' are not two");
  const Shape& from = node.shape(0);
  const size_t axis = node.axis(node.integer("axis", -1), from.size() + 1);
  Shape shape = from;
  shape.insert(shape.begin() + static_cast<int64_t>(axis), depth);
  Indices at = axis_names(shape.size());
  at.erase(at.begin() + static_cast<int64_t>(axis));
  const std::string index = convert(node.dtype(0), kI64, element(in(0), at));
  std::string condition = fmt::format("{} == i{}", index, axis);
  // Negative indices count from the end.
  if (node.version() >= 11) condition += fmt::format(" or {} + {} == i{}", index, depth, axis);
  return copied(node, shape, fmt::format("select({}, in2[1], in2[0])", condition), 2);
}

Computation trilu(const NodeReader& node) {
  const Shape& shape = node.shape(0);
  node.refuse_unless(shape.size() >= 2, "expected matrices");
  const int64_t diagonal = node.has(1) ? node.integer_of(1, "k") : 0;
  const bool upper = node.flag("upper", true);
  const std::string zero = node.dtype(0).is_bool() ? "false" : "0";
  return copied(node, shape,
                fmt::format("select(i{} - i{} {} {}, {}, {})", shape.size() - 1, shape.size() - 2,
                            upper ? ">=" : "<=", diagonal, broadcast(in(0), shape, shape), zero));
}

}  // namespace

std::vector<Row> selection_operators() {
  return {
      {"ArgMax", 1, [](const NodeReader& node) { return arg(node, "max"); }},
      {"ArgMin", 1, [](const NodeReader& node) { return arg(node, "min"); }},
      {"TopK", 10, top_k, false, false, top_k_by_data},
      {"OneHot", 9, one_hot},
      {"Trilu", 14, trilu, true},
  };
}

}  // namespace tunesmith::operators_onnx
