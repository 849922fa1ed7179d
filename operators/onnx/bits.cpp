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
  return copied(node, shape, fmt::format("bit_not({})", here(in(0), shape)));
}

Computation bit_shift(const NodeReader& node) {
  const std::string direction = node.text("direction", "");
  node.refuse_unless(direction == "LEFT" || direction == "RIGHT",
                     fmt::format("attribute 'direction' is '{}', not LEFT or RIGHT", direction));
  node.refuse_unless(node.version() >= 28 || node.dtype(0).is_unsigned_int(), "expected unsigned integers");
  return of_two(node, direction == "LEFT" ? "shift_left" : "shift_right");
}

/// Converts between integers: they wrap around, so those of one width keep their bits.
Computation bit_cast(const NodeReader& node) {
  node.refuse_unless(node.has_attribute("to"), "attribute 'to' is missing");
  const DType from = node.dtype(0), to = type_of_number(node, node.integer("to", 0));
  node.refuse_unless(from.bytes() == to.bytes(), "its types are of different widths");
  node.refuse_unless(!from.is_float() && !to.is_float() && !to.is_bool(),
                     "the bits of floating values are not in the workload language");
  const Shape& shape = node.shape(0);
  return computed(to, shape, statement(out(0), shape, convert(from, to, here(in(0), shape))));
}

}  // namespace

std::vector<Row> bit_operators() {
  return {
      {"BitCast", 26, bit_cast, true},
      {"BitShift", 11, bit_shift},
      {"BitwiseAnd", 18, [](const NodeReader& node) { return of_two(node, "bit_and"); }},
      {"BitwiseOr", 18, [](const NodeReader& node) { return of_two(node, "bit_or"); }},
      {"BitwiseXor", 18, [](const NodeReader& node) { return of_two(node, "bit_xor"); }},
      {"BitwiseNot", 18, bitwise_not},
  };
}

}  // namespace tunesmith::operators_onnx
