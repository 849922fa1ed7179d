// Operators that choose by position: of the largest, of an index, of a triangle.
#include <fmt/format.h>

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
  const std::string is_extreme = fmt::format("{} == {}", x, here(temporary(0), reduced.output));
  std::string position = last ? fmt::format("select({}, r0, 0)", is_extreme)
                              : fmt::format("select({}, r0 + {}, {})", is_extreme, extent, 2 * extent - 1);
  if (dtype.is_float())
    position =
        fmt::format("select({0} != {0}, r0{1}, {2})", x, last ? fmt::format(" + {}", extent) : "", position);
  const std::string text =
      statement(temporary(0), reduced.output, reduced.reduction(kind, x)) +
      statement(temporary(1), reduced.output,
                reduced.reduction(last ? "max" : "min", "i64(" + position + ")")) +
      statement(out(0), reduced.output, fmt::format("{} % {}", here(temporary(1), reduced.output), extent));
  return computed(kI64, reduced.output, text);
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
                            upper ? ">=" : "<=", diagonal, here(in(0), shape), zero));
}

}  // namespace

std::vector<Row> selection_operators() {
  return {
      {"ArgMax", 1, [](const NodeReader& node) { return arg(node, "max"); }},
      {"ArgMin", 1, [](const NodeReader& node) { return arg(node, "min"); }},
      {"OneHot", 9, one_hot},
      {"Trilu", 14, trilu, true},
  };
}

}  // namespace tunesmith::operators_onnx
