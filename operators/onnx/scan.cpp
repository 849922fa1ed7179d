// Running sums and products.
#include <fmt/format.h>

#include "registry.h"
#include "statements.h"

namespace tunesmith::operators_onnx {
namespace {

/// Parallel prefix sums: each step combines elements at twice the distance, so the number of steps is the
/// extent's number of bits (Hillis and Steele, Data parallel algorithms, 1986).
Computation running(const NodeReader& node, char operation, int neutral) {
  const DType dtype = node.dtype(0);
  node.refuse_unless(!dtype.is_bool(), "expected numbers");
  const Shape& shape = node.shape(0);
  node.refuse_unless(!shape.empty(), "a single value has no axis");
  const size_t axis = node.axis(node.integer_of(1, "axis"), shape.size());
  const bool reverse = node.flag("reverse", false);
  const Indices here = axis_names(shape.size());
  /// The element `distance` before here, or the neutral one.
  const auto before = [&](const std::string& array, int64_t distance) {
    Indices at = here;
    at[axis] = fmt::format("{} {} {}", here[axis], reverse ? "+" : "-", distance);
    const std::string inside = reverse ? fmt::format("{} < {}", here[axis], shape[axis] - distance)
                                       : fmt::format("{} >= {}", here[axis], distance);
    return distance < shape[axis] ? fmt::format("select({}, {}, {})", inside, element(array, at), neutral)
                                  : fmt::format("{}({})", dtype.str(), neutral);
  };
  const std::string first = node.flag("exclusive", false) ? before(in(0), 1) : element(in(0), here);
  size_t number = 0;
  std::string text = statement(temporary(number), shape, to_wide(dtype, first));
  for (int64_t distance = 1; distance < shape[axis]; distance *= 2, ++number) {
    text += statement(temporary(number + 1), shape,
                      fmt::format("{} {} {}", element(temporary(number), here), operation,
                                  before(temporary(number), distance)));
  }
  return finished(dtype, shape, text, element(temporary(number), here));
}

}  // namespace

std::vector<Row> scan_operators() {
  return {{"CumSum", 11, [](const NodeReader& node) { return running(node, '+', 0); }},
          {"CumProd", 26, [](const NodeReader& node) { return running(node, '*', 1); }}};
}

}  // namespace tunesmith::operators_onnx
