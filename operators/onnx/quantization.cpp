// Operators that compute with integers in the place of floating values.
#include <fmt/format.h>

#include "registry.h"
#include "statements.h"

namespace tunesmith::operators_onnx {
namespace {

/// A scale or zero point, which is one value or one for each index of an axis, for a statement over `shape`.
std::string per_axis(const NodeReader& node, size_t input, const Shape& shape) {
  const Shape& own = node.shape(input);
  if (element_count(own) == 1) return element(in(input), Indices(own.size(), "0"));
  node.refuse_unless(own.size() == 1, "its scale is neither of the whole tensor nor of an axis");
  const size_t axis = node.axis(node.integer("axis", 1), shape.size());
  node.refuse_unless(own[0] == shape[axis], "its scale has not one value for each index of the axis");
  return element(in(input), {fmt::format("i{}", axis)});
}

void ignore_unused(const NodeReader& node) {
  node.ignore("axis");      // of a single scale
  node.ignore("saturate");  // of types of 8 bits that are not integers
  node.refuse_unless(node.integer("block_size", 0) == 0, "attribute 'block_size' is not taken");
  node.refuse_unless(node.integer("output_dtype", 0) == 0, "attribute 'output_dtype' is not taken");
  node.refuse_unless(node.integer("precision", 0) == 0, "attribute 'precision' is not taken");
}

/// x to the nearest integer, halves to the even one.
std::string rounded(const std::string& x) {
  return fmt::format(
      "select({0} - floor({0}) < 0.5, floor({0}), select({0} - floor({0}) > 0.5, floor({0}) + 1, "
      "select(floor({0}) - 2 * floor(floor({0}) * 0.5) == 0, floor({0}), floor({0}) + 1)))",
      x);
}

/// t0 is the quotient; a cast to an integer type takes the nearest value that there is.
Computation quantize_linear(const NodeReader& node) {
  ignore_unused(node);
  const DType dtype = node.dtype(0);
  node.refuse_unless(dtype == node.dtype(1) && dtype.is_float(),
                     "expected floating values, and a scale of their type");
  const DType to = node.has(2) ? node.dtype(2) : kU8;
  node.refuse_unless(to == kU8 || to == kI8, "expected a zero point of type u8 or i8");
  const Shape& shape = node.shape(0);
  const std::string here = broadcast(temporary(0), shape, shape);
  std::string value = rounded(here);
  if (node.has(2)) value += " + " + convert(to, wide(dtype), per_axis(node, 2, shape));
  const std::string quotient =
      fmt::format("{} / {}", convert(dtype, wide(dtype), broadcast(in(0), shape, shape)),
                  convert(dtype, wide(dtype), per_axis(node, 1, shape)));
  return computed(to, shape,
                  statement(temporary(0), shape, quotient) + statement(out(0), shape, typed(to, value)));
}

Computation dequantize_linear(const NodeReader& node) {
  ignore_unused(node);
  const DType dtype = node.dtype(0);
  const DType to = node.dtype(1);
  node.refuse_unless(dtype == kU8 || dtype == kI8 || dtype == kI32, "expected values of type u8, i8 or i32");
  const Shape& shape = node.shape(0);
  std::string value = typed(kI32, broadcast(in(0), shape, shape));
  if (node.has(2)) value = fmt::format("({} - i32({}))", value, per_axis(node, 2, shape));
  value = fmt::format("{} * {}", typed(wide(to), value), convert(to, wide(to), per_axis(node, 1, shape)));
  return computed(to, shape, statement(out(0), shape, convert(wide(to), to, value)));
}

/// An element of an operand of 8 bits, less its zero point.
std::string shifted(const NodeReader& node, size_t operand, size_t zero_point, const Indices& at) {
  node.refuse_unless(node.dtype(operand) == kU8 || node.dtype(operand) == kI8,
                     "expected operands of type u8 or i8");
  const std::string value = typed(kI32, element(in(operand), at));
  if (!node.has(zero_point)) return value;
  node.refuse_unless(element_count(node.shape(zero_point)) == 1, "a zero point is not a single value");
  return fmt::format("({} - i32({}))", value, element(in(zero_point), Indices(node.rank(zero_point), "0")));
}

Computation mat_mul_integer(const NodeReader& node) {
  const Shape& a = node.shape(0);
  const Shape& b = node.shape(1);
  node.refuse_unless(a.size() == 2 && b.size() == 2 && a[1] == b[0], "expected two matrices that fit");
  const Shape shape{a[0], b[1]};
  return computed(
      kI32, shape,
      statement(out(0), shape,
                reduction("sum", {"r0"}, {a[1]},
                          shifted(node, 0, 2, {"i0", "r0"}) + " * " + shifted(node, 1, 3, {"r0", "i1"}))));
}

}  // namespace

std::vector<Row> quantization_operators() {
  return {
      {"QuantizeLinear", 10, quantize_linear},
      {"DequantizeLinear", 10, dequantize_linear},
      {"MatMulInteger", 10, mat_mul_integer},
  };
}

}  // namespace tunesmith::operators_onnx
