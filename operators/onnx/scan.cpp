// Running sums.
#include <fmt/format.h>

#include "registry.h"
#include "statements.h"

namespace tunesmith::operators_onnx {
namespace {

/// Each sum is computed by itself: as many steps as the square of the axis.
Computation cum_sum(const NodeReader& node) {
  const DType dtype = node.dtype(0);
  node.refuse_unless(!dtype.is_bool(), "expected numbers");
  const Shape& shape = node.shape(0);
  node.refuse_unless(!shape.empty(), "a single value has no axis");
  const size_t axis = node.axis(node.integer_of(1, "axis"), shape.size());
  const bool exclusive = node.flag("exclusive", false);
  const bool reverse = node.flag("reverse", false);
  const std::string compare = std::string(reverse ? ">" : "<") + (exclusive ? "" : "=");
  Indices at = axis_names(shape.size());
  at[axis] = "r0";
  const std::string term =
      fmt::format("select(r0 {} i{}, {}, 0)", compare, axis, convert(dtype, wide(dtype), element(in(0), at)));
  return computed(dtype, shape, summed(dtype, shape, {"r0"}, {shape[axis]}, term));
}

}  // namespace

std::vector<Row> scan_operators() { return {{"CumSum", 11, cum_sum}}; }

}  // namespace tunesmith::operators_onnx
