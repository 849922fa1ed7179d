// Element-wise operators of two or more inputs.
#include <cmath>

#include <fmt/format.h>

#include "registry.h"
#include "statements.h"

namespace tunesmith::operators_onnx {
namespace {

DType common_type(const NodeReader& node) {
  const DType dtype = node.dtype(0);
  for (size_t i = 1; i < node.input_count(); ++i)
    node.refuse_unless(node.dtype(i) == dtype, "its inputs are of different types");
  return dtype;
}

/// Before version 7, arithmetic operators had two inputs and broadcast by attributes.
bool is_legacy(const NodeReader& node) {
  return node.version() < 7 && (node.op() == "Add" || node.op() == "Sub" || node.op() == "Mul" ||
                                node.op() == "Div" || node.op() == "Pow");
}

/// Before version 7 attribute 'broadcast' allowed the second input to be broadcast, with its axes from 'axis'
/// on. Returns the axis of the first input that meets the second input's first axis.
size_t first_axis_of_second(const NodeReader& node) {
  const Shape& a = node.shape(0);
  const Shape& b = node.shape(1);
  const bool may = node.flag("broadcast", false);
  node.refuse_unless(may || a == b, "its inputs have different shapes, and attribute 'broadcast' is 0");
  node.refuse_unless(b.size() <= a.size(), "the second input has more axes than the first");
  const int64_t suffix = static_cast<int64_t>(a.size() - b.size());
  const int64_t axis = node.integer("axis", suffix);
  node.refuse_unless(axis >= 0 && axis <= suffix, "attribute 'axis' is out of range");
  return static_cast<size_t>(axis);
}

Shape common_shape(const NodeReader& node) {
  Shape shape = node.shape(0);
  if (is_legacy(node)) {
    const size_t first = first_axis_of_second(node);
    for (size_t i = 0; i < node.rank(1); ++i)
      node.refuse_unless(node.shape(1)[i] == shape[first + i] || node.shape(1)[i] == 1,
                         "the second input does not fit the first");
    return shape;
  }
  for (size_t i = 1; i < node.input_count(); ++i) shape = broadcast_shape(node, shape, node.shape(i));
  return shape;
}

/// The element of an input that meets an element of the result.
std::string element_of(const NodeReader& node, size_t input, const Shape& shape) {
  if (!is_legacy(node) || input != 1) return broadcast(in(input), node.shape(input), shape);
  const size_t first = first_axis_of_second(node);
  Indices at;
  for (size_t i = 0; i < node.rank(1); ++i)
    at.push_back(node.shape(1)[i] == 1 ? "0" : fmt::format("i{}", first + i));
  return element(in(1), at);
}

/// Joins two inputs of one type by an operator.
using Join = std::string (*)(DType dtype, const std::string& a, const std::string& b);

/// Joins the inputs from `first` to before `end`, by halves, so that text and depth grow slowly.
std::string folded(const NodeReader& node, Join join, DType dtype, const Shape& shape, size_t first,
                   size_t end) {
  if (end - first == 1) return convert(node.dtype(first), dtype, element_of(node, first, shape));
  const size_t middle = (first + end + 1) / 2;
  return join(dtype, folded(node, join, dtype, shape, first, middle),
              folded(node, join, dtype, shape, middle, end));
}

Computation fold_inputs(const NodeReader& node, Join join, bool mean) {
  const DType dtype = common_type(node);
  node.refuse_unless(!dtype.is_bool(), "expected numbers");
  node.refuse_unless(!mean || dtype.is_float(), "expected floating values");
  const Shape shape = common_shape(node);
  // The sum of several inputs rounds once.
  const DType type = mean || node.op() == "Sum" ? wide(dtype) : dtype;
  std::string value = folded(node, join, type, shape, 0, node.input_count());
  if (mean) value = fmt::format("({}) / {}", value, node.input_count());
  return copied(node, shape, convert(type, dtype, value));
}

Define folding(Join join, bool mean = false) {
  return [join, mean](const NodeReader& node) { return fold_inputs(node, join, mean); };
}

std::string add(DType, const std::string& a, const std::string& b) { return fmt::format("{} + {}", a, b); }
std::string subtract(DType, const std::string& a, const std::string& b) {
  return fmt::format("{} - {}", a, b);
}
std::string multiply(DType, const std::string& a, const std::string& b) {
  return fmt::format("{} * {}", a, b);
}

/// max(b, a) is a where one of them is NaN.
std::string extreme(std::string_view name, DType dtype, const std::string& a, const std::string& b) {
  const std::string value = fmt::format("{}({}, {})", name, b, a);
  return dtype.is_float() ? fmt::format("select({0} != {0}, {0}, {1})", b, value) : value;
}
std::string larger(DType dtype, const std::string& a, const std::string& b) {
  return extreme("max", dtype, a, b);
}
std::string smaller(DType dtype, const std::string& a, const std::string& b) {
  return extreme("min", dtype, a, b);
}

/// The single value of a constant integer input, if it is one.
std::optional<int64_t> single_integer(const NodeReader& node, size_t input) {
  const Constant* constant = node.constant(input);
  if (!constant || constant->dtype.is_float() || element_count(constant->shape) != 1) return std::nullopt;
  return integer_elements(*constant)[0];
}

/// a / b in f64, of integers of at most 32 bits, to be rounded to an integer: towards zero where `sign_of` is
/// a, down where it is b. Half a unit of the dividend keeps it off that integer, because a target may
/// multiply by 1 / b, which is not exact.
std::string quotient(DType dtype, const std::string& a, const std::string& b, const std::string& sign_of) {
  const std::string half =
      dtype.is_unsigned_int() ? "0.5" : fmt::format("select({} < 0, -0.5, f64(0.5))", sign_of);
  return fmt::format("(f64({}) + {}) / f64({})", a, half, b);
}

/// a / by for signed integers, towards zero. Does not negate a: the smallest integer has no opposite.
std::string towards_zero(const std::string& a, int64_t by) {
  return fmt::format("select({0} < 0, ({0} + {2}) // {1}, {0} // {1})", a, by, by - 1);
}

Computation divide(const NodeReader& node) {
  const DType dtype = common_type(node);
  node.refuse_unless(!dtype.is_bool(), "expected numbers");
  const Shape shape = common_shape(node);
  const std::string a = element_of(node, 0, shape);
  const std::string b = element_of(node, 1, shape);
  if (dtype.is_float()) return copied(node, shape, fmt::format("{} / {}", a, b));
  if (const auto by = single_integer(node, 1); by && *by > 0) {
    if (dtype.is_unsigned_int()) return copied(node, shape, fmt::format("{} // {}", a, *by));
    return copied(node, shape, towards_zero(a, *by));
  }
  if (dtype.bits <= 32)
    return copied(node, shape, fmt::format("{}({})", dtype.str(), quotient(dtype, a, b, a)));
  node.refuse("i64 is divided by a positive constant only");
}

Computation modulo(const NodeReader& node) {
  const DType dtype = common_type(node);
  const bool sign_of_dividend = node.flag("fmod", false);
  node.refuse_unless(!dtype.is_float(),
                     "the remainder of floating values is not in the workload language yet");
  node.refuse_unless(!dtype.is_bool(), "expected numbers");
  const Shape shape = common_shape(node);
  const std::string a = element_of(node, 0, shape);
  const std::string b = element_of(node, 1, shape);
  if (const auto by = single_integer(node, 1); by && *by > 0) {
    if (!sign_of_dividend || dtype.is_unsigned_int())
      return copied(node, shape, fmt::format("{} % {}", a, *by));
    return copied(node, shape, fmt::format("{0} - {2} * {1}", a, *by, towards_zero(a, *by)));
  }
  node.refuse_unless(dtype.bits <= 32, "the remainder of i64 is taken by a positive constant only");
  const std::string rounded =
      sign_of_dividend ? quotient(dtype, a, b, a) : fmt::format("floor({})", quotient(dtype, a, b, b));
  return copied(node, shape, fmt::format("{1} - {0}({3}) * {2}", dtype.str(), a, b, rounded));
}

/// A power with a small constant integer exponent, as a product: exact for integers.
std::optional<std::string> as_product(const NodeReader& node, const std::string& base) {
  const Constant* constant = node.constant(1);
  if (!constant || element_count(constant->shape) != 1) return std::nullopt;
  if (constant->dtype.is_float() && constant->dtype.bits < 32) return std::nullopt;
  const double exponent = number_elements(*constant)[0];
  constexpr double kMaxFactors = 8;
  if (exponent != std::floor(exponent) || exponent < 1 || exponent > kMaxFactors) return std::nullopt;
  std::string product = base;
  for (int i = 1; i < static_cast<int>(exponent); ++i) product += " * " + base;
  return product;
}

Computation power(const NodeReader& node) {
  const DType dtype = node.dtype(0);
  node.refuse_unless(!dtype.is_bool() && !node.dtype(1).is_bool(), "expected numbers");
  const Shape shape = common_shape(node);
  const std::string base = element_of(node, 0, shape);
  if (const auto product = as_product(node, base)) return copied(node, shape, *product);
  node.refuse_unless(dtype.is_float(), "integers are raised to a constant power from 1 to 8 only");
  const std::string exponent = convert(node.dtype(1), dtype, element_of(node, 1, shape));
  return copied(node, shape, fmt::format("pow({}, {})", base, exponent));
}

Computation where(const NodeReader& node) {
  node.refuse_unless(node.dtype(0).is_bool(), "the condition is of another type than bool");
  node.refuse_unless(node.dtype(1) == node.dtype(2), "its values are of different types");
  const Shape shape = common_shape(node);
  return copied(node, shape,
                fmt::format("select({}, {}, {})", element_of(node, 0, shape), element_of(node, 1, shape),
                            broadcast(in(2), node.shape(2), shape)),
                1);
}

}  // namespace

std::vector<Row> binary_operators() {
  return {
      {"Add", 6, folding(add), true},
      {"Sub", 6, folding(subtract), true},
      {"Mul", 6, folding(multiply), true},
      {"Div", 6, divide, true},
      {"Mod", 10, modulo},
      {"Pow", 6, power},
      {"Max", 6, folding(larger)},
      {"Min", 6, folding(smaller)},
      {"Sum", 6, folding(add)},
      {"Mean", 6, folding(add, true)},
      {"Where", 9, where, true},
  };
}

}  // namespace tunesmith::operators_onnx
