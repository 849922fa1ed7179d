// Functions of the bits of integers.
#include <fmt/format.h>

#include "registry.h"
#include "statements.h"

namespace tunesmith::operators_onnx {
namespace {

Computation of_two(const NodeReader& node, std::string_view function) {
  const DType dtype = node.dtype(0);
  node.refuse_unless(dtype == node.dtype(1), "its inputs are of different types");
  node.refuse_unless(dtype.is_int(), "expected integers");
  const Shape shape = broadcast_shape(node, node.shape(0), node.shape(1));
  return copied(node, shape,
                fmt::format("{}({}, {})", function, broadcast(in(0), node.shape(0), shape),
                            broadcast(in(1), node.shape(1), shape)));
}

Computation bitwise_not(const NodeReader& node) {
  node.refuse_unless(node.dtype(0).is_int(), "expected integers");
  const Shape& shape = node.shape(0);
  return copied(node, shape, fmt::format("bit_not({})", broadcast(in(0), shape, shape)));
}

Computation bit_shift(const NodeReader& node) {
  const std::string direction = node.text("direction", "");
  node.refuse_unless(direction == "LEFT" || direction == "RIGHT",
                     fmt::format("attribute 'direction' is '{}', not LEFT or RIGHT", direction));
  node.refuse_unless(node.version() >= 28 || node.dtype(0).is_unsigned_int(), "expected unsigned integers");
  return of_two(node, direction == "LEFT" ? "shift_left" : "shift_right");
}

}  // namespace

std::vector<Row> bit_operators() {
  return {
      {"BitShift", 11, bit_shift},
      {"BitwiseAnd", 18, [](const NodeReader& node) { return of_two(node, "bit_and"); }},
      {"BitwiseOr", 18, [](const NodeReader& node) { return of_two(node, "bit_or"); }},
      {"BitwiseXor", 18, [](const NodeReader& node) { return of_two(node, "bit_xor"); }},
      {"BitwiseNot", 18, bitwise_not},
  };
}

}  // namespace tunesmith::operators_onnx
