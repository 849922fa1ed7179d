// Quantizes and dequantizes.
#include <fmt/format.h>

#include "codes.h"
#include "registry.h"
#include "statements.h"

namespace tunesmith::operators_onnx {
namespace {

/// The element of a scale or zero point with one value for each block along an axis.
std::string per_block(const NodeReader& node, size_t input, const Shape& shape, int64_t block) {
  const size_t axis = node.axis(node.integer("axis", 1), shape.size());
  Shape blocks = shape;
  blocks[axis] = (shape[axis] + block - 1) / block;
  node.refuse_unless(node.shape(input) == blocks, "its scale has not one value for each block of the axis");
  Indices at = axis_names(shape.size());
  at[axis] += fmt::format(" // {}", block);
  return element(in(input), at);
}

/// The element of a scale or zero point for a statement over `shape`: one value in all, or one for each index
/// or block of an axis.
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

/// The type that attribute 'output_dtype' names; `otherwise` without the attribute.
TensorType output_type(const NodeReader& node, TensorType otherwise) {
  const int64_t number = node.integer("output_dtype", 0);
  otherwise.shape.clear();
  return number == 0 ? otherwise : type_of(node, number);
}

bool is_float_code(Code code) { return code != Code::None && !is_integer_code(code); }

bool is_quantized(DType dtype) { return dtype == kU8 || dtype == kI8 || dtype == kU16 || dtype == kI16; }

/// The zero point of floats must be 0.
void check_zero_point(const NodeReader& node, const TensorType& values) {
  if (!node.has(2)) return;
  node.refuse_unless(node.dtype(2) == values.dtype && node.code(2) == values.code,
                     "its zero point is of another type than its integers");
  if (!is_float_code(values.code)) return;
  for (const int64_t byte : node.integers_of(2, "zero_point"))
    node.refuse_unless(byte == 0, "the zero point of floats is not 0");
}

/// Is it known to be the number 1?
bool is_one(const NodeReader& node, size_t input) {
  const Constant* known = node.constant(input);
  return known != nullptr && element_count(known->shape) == 1 && number_elements(*known) == std::vector{1.0};
}

/// Casts to integers saturate.
Computation quantize_linear(const NodeReader& node) {
  node.ignore("axis");  // the axis of a single scale does not matter
  const bool saturate = node.flag("saturate", true);
  const DType dtype = node.dtype(0);
  node.refuse_unless(dtype == node.dtype(1) && dtype.is_float(),
                     "expected floating values, and a scale of their type");
  const int64_t precision = node.integer("precision", 0);
  node.refuse_unless(precision == 0 || type_of_number(node, precision) == wide(dtype),
                     "attribute 'precision' is not the scale's type");
  const TensorType to = output_type(node, node.has(2) ? node.type(2) : TensorType{kU8, {}});
  node.refuse_unless(is_quantized(to.dtype), "expected a zero point of type u8, i8, u16 or i16");
  check_zero_point(node, to);
  const Shape& shape = node.shape(0);
  Script script;
  std::string quotient = to_wide(dtype, here(in(0), shape));
  if (!is_one(node, 1)) quotient += " / " + to_wide(dtype, per_axis(node, 1, shape));
  std::string value = rounded(quotient);
  if (is_float_code(to.code)) {
    value = encoded(script, shape, to.code, convert(wide(dtype), kF32, quotient), saturate);
  } else {
    if (node.has(2)) value += " + " + convert(to.dtype, wide(dtype), per_axis(node, 2, shape));
    value = to.code == Code::None ? typed(to.dtype, value) : clamped(to.code, value);
  }
  return {{{to.dtype, shape, to.code}}, {}, script.text + statement(out(0), shape, value)};
}

Computation dequantize_linear(const NodeReader& node) {
  node.ignore("axis");
  node.ignore("saturate");
  const DType dtype = node.dtype(0);
  const DType to = output_type(node, node.type(1)).dtype;
  node.refuse_unless(is_quantized(dtype) || dtype == kI32, "expected values of type u8, i8, u16, i16 or i32");
  node.refuse_unless(node.dtype(1).is_float() && to.is_float(), "expected floating scales and results");
  check_zero_point(node, node.type(0));
  const Shape& shape = node.shape(0);
  const std::string scale = convert(node.dtype(1), wide(to), per_axis(node, 1, shape));
  std::string value = here(in(0), shape);
  if (is_float_code(node.code(0))) {
    Script script;
    value = convert(kF32, wide(to), script.here(shape, decoded(node.code(0), value)));
    return finished(to, shape, script.text, fmt::format("{} * {}", value, scale));
  }
  value = typed(kI32, value);
  if (node.has(2)) value = fmt::format("({} - i32({}))", value, per_axis(node, 2, shape));
  value = fmt::format("{} * {}", typed(wide(to), value), scale);
  return finished(to, shape, "", value);
}

/// Maps the range of the values, extended to contain 0, to u8. Outputs are the bytes, the scale and the zero
/// point.
Computation dynamic_quantize_linear(const NodeReader& node) {
  node.refuse_unless(node.dtype(0).is_float(), "expected floating values");
  const Shape& shape = node.shape(0);
  const Indices axes = axis_names(shape.size(), 'r');
  const std::string each = element(in(0), axes);
  Script script;
  const std::string most =
      script.here({}, fmt::format("max(0, {})", script.here({}, reduction("max", axes, shape, each))));
  const std::string least =
      script.here({}, fmt::format("min(0, {})", script.here({}, reduction("min", axes, shape, each))));
  const std::string scale =
      script.here({}, fmt::format("select({0} - {1} > 0, {0} - {1}, 255) / 255", most, least));
  const std::string zero = rounded(fmt::format("min(255, -{} / {})", least, scale));
  const std::string zero_point = script.here({}, typed(kU8, zero));
  const std::string quotient = fmt::format("{} / {}", here(in(0), shape), scale);
  std::string text = script.text;
  if (node.wants(0)) {
    const std::string shift = typed(node.dtype(0), zero_point);
    text += statement(out(0), shape, typed(kU8, rounded(quotient) + " + " + shift));
  }
  if (node.wants(1)) text += statement(out(1), {}, scale);
  if (node.wants(2)) text += statement(out(2), {}, zero_point);
  return {{{kU8, shape}, {node.dtype(0), {}}, {kU8, {}}}, {}, text};
}

}  // namespace

std::vector<Row> quantization_operators() {
  return {
      {"QuantizeLinear", 10, quantize_linear},
      {"DequantizeLinear", 10, dequantize_linear},
      {"DynamicQuantizeLinear", 11, dynamic_quantize_linear},
  };
}

}  // namespace tunesmith::operators_onnx
