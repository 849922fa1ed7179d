// Operators that compute with integers in the place of floating values.
#include <optional>

#include <fmt/format.h>

#include "registry.h"
#include "statements.h"

namespace tunesmith::operators_onnx {
namespace {

/// One value for so many neighbours along an axis.
std::string per_block(const NodeReader& node, size_t input, const Shape& shape, int64_t block) {
  const size_t axis = node.axis(node.integer("axis", 1), shape.size());
  Shape blocks = shape;
  blocks[axis] = (shape[axis] + block - 1) / block;
  node.refuse_unless(node.shape(input) == blocks, "its scale has not one value for each block of the axis");
  Indices at = axis_names(shape.size());
  at[axis] += fmt::format(" // {}", block);
  return element(in(input), at);
}

/// A scale or zero point, which is one value or one for each index or block of an axis, for a statement over
/// `shape`.
std::string per_axis(const NodeReader& node, size_t input, const Shape& shape) {
  const Shape& own = node.shape(input);
  const int64_t block = node.integer("block_size", 0);
  node.refuse_unless(block >= 0, "attribute 'block_size' is below 0");
  if (block > 0) return per_block(node, input, shape, block);
  if (element_count(own) == 1) return element(in(input), Indices(own.size(), "0"));
  node.refuse_unless(own.size() == 1, "its scale is neither of the whole tensor nor of an axis");
  const size_t axis = node.axis(node.integer("axis", 1), shape.size());
  node.refuse_unless(own[0] == shape[axis], "its scale has not one value for each index of the axis");
  return element(in(input), {fmt::format("i{}", axis)});
}

void ignore_unused(const NodeReader& node) {
  node.ignore("axis");      // of a single scale
  node.ignore("saturate");  // of types of 8 bits that are not integers
}

/// The attribute 'output_dtype', or `otherwise` where it is left out.
DType output_type(const NodeReader& node, DType otherwise) {
  const int64_t number = node.integer("output_dtype", 0);
  return number == 0 ? otherwise : type_of_number(node, number);
}

bool is_quantized(DType dtype) { return dtype == kU8 || dtype == kI8 || dtype == kU16 || dtype == kI16; }

/// t0 is the quotient; a cast to an integer type takes the nearest value that there is.
Computation quantize_linear(const NodeReader& node) {
  ignore_unused(node);
  const DType dtype = node.dtype(0);
  node.refuse_unless(dtype == node.dtype(1) && dtype.is_float(),
                     "expected floating values, and a scale of their type");
  const int64_t precision = node.integer("precision", 0);
  node.refuse_unless(precision == 0 || type_of_number(node, precision) == wide(dtype),
                     "attribute 'precision' is not the scale's type");
  const DType to = output_type(node, node.has(2) ? node.dtype(2) : kU8);
  node.refuse_unless(is_quantized(to) && (!node.has(2) || node.dtype(2) == to),
                     "expected a zero point of type u8, i8, u16 or i16");
  const Shape& shape = node.shape(0);
  const std::string here = broadcast(temporary(0), shape, shape);
  std::string value = rounded(here);
  // The sum of two integers is taken for one again: a cast drops what lies behind the point.
  if (node.has(2))
    value = fmt::format("floor({} + {} + 0.5)", value, convert(to, wide(dtype), per_axis(node, 2, shape)));
  const std::string quotient =
      fmt::format("{} / {}", convert(dtype, wide(dtype), broadcast(in(0), shape, shape)),
                  convert(dtype, wide(dtype), per_axis(node, 1, shape)));
  return computed(to, shape,
                  statement(temporary(0), shape, quotient) + statement(out(0), shape, typed(to, value)));
}

Computation dequantize_linear(const NodeReader& node) {
  ignore_unused(node);
  const DType dtype = node.dtype(0);
  const DType to = output_type(node, node.dtype(1));
  node.refuse_unless(is_quantized(dtype) || dtype == kI32, "expected values of type u8, i8, u16, i16 or i32");
  node.refuse_unless(node.dtype(1).is_float() && to.is_float(), "expected floating scales and results");
  const Shape& shape = node.shape(0);
  std::string value = typed(kI32, broadcast(in(0), shape, shape));
  if (node.has(2)) value = fmt::format("({} - i32({}))", value, per_axis(node, 2, shape));
  const std::string scale = convert(node.dtype(1), wide(to), per_axis(node, 1, shape));
  value = fmt::format("{} * {}", typed(wide(to), value), scale);
  return computed(to, shape, statement(out(0), shape, convert(wide(to), to, value)));
}

/// The zero point of an operand of 8 bits as i32; nothing where it is left out, or known to be 0.
std::optional<std::string> zero_point_of(const NodeReader& node, size_t operand, size_t input) {
  node.refuse_unless(node.dtype(operand) == kU8 || node.dtype(operand) == kI8,
                     "expected operands of type u8 or i8");
  if (!node.has(input)) return std::nullopt;
  node.refuse_unless(element_count(node.shape(input)) == 1, "a zero point is not a single value");
  if (const Constant* known = node.constant(input); known && integer_elements(*known).front() == 0)
    return std::nullopt;
  return typed(kI32, element(in(input), Indices(node.rank(input), "0")));
}

/// The sum of (a - za) * (b - zb) is written as sums of a * b, a and b: a product of bytes has instructions,
/// one of differences has none. Integers wrap around, so that both are the same to the bit.
Computation mat_mul_integer(const NodeReader& node) {
  const Shape& a = node.shape(0);
  const Shape& b = node.shape(1);
  node.refuse_unless(a.size() == 2 && b.size() == 2 && a[1] == b[0], "expected two matrices that fit");
  const Shape shape{a[0], b[1]};
  const auto sum = [&](const std::string& term) { return reduction("sum", {"r0"}, {a[1]}, term); };
  const std::string of_a = typed(kI32, element(in(0), {"i0", "r0"}));
  const std::string of_b = typed(kI32, element(in(1), {"r0", "i1"}));
  const std::optional<std::string> za = zero_point_of(node, 0, 2);
  const std::optional<std::string> zb = zero_point_of(node, 1, 3);
  if (!za && !zb) return computed(kI32, shape, statement(out(0), shape, sum(of_a + " * " + of_b)));
  std::string text = statement(temporary(0), shape, sum(of_a + " * " + of_b));
  std::string value = element(temporary(0), {"i0", "i1"});
  if (za) {
    text += fmt::format("{}[i1<{}] = {}\n", temporary(1), shape[1], sum(of_b));
    value += fmt::format(" - {} * {}", *za, element(temporary(1), {"i1"}));
  }
  if (zb) {
    text += statement(temporary(2), {shape[0]}, sum(of_a));
    value += fmt::format(" - {} * {}", *zb, element(temporary(2), {"i0"}));
  }
  if (za && zb) value += fmt::format(" + {} * {} * {}", a[1], *za, *zb);
  return computed(kI32, shape, text + statement(out(0), shape, value));
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
