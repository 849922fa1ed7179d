// Products and convolutions of bytes with zero points, and back to bytes: MatMulInteger, ConvInteger,
// QLinearMatMul, QLinearConv.
//
// The sum of (a - za) * (b - zb) is written as sums of a * b, a and b, because processors have instructions
// for products of bytes but not of differences. Integers wrap around, so both are equal bit for bit.
#include <optional>

#include <fmt/format.h>

#include "registry.h"
#include "statements.h"
#include "window.h"

namespace tunesmith::operators_onnx {
namespace {

void check_bytes(const NodeReader& node, size_t a, size_t b) {
  for (const size_t operand : {a, b})
    node.refuse_unless(node.dtype(operand) == kU8 || node.dtype(operand) == kI8,
                       "expected operands of type u8 or i8");
}

/// Is the zero point left out, or known to be 0 everywhere?
bool is_zero(const NodeReader& node, size_t input) {
  if (!node.has(input)) return true;
  const Constant* known = node.constant(input);
  if (known == nullptr) return false;
  for (const int64_t value : integer_elements(*known))
    if (value != 0) return false;
  return true;
}

/// The element of a scale or zero point, which has one value, or one for each index of the axis named `axis`.
std::string single_or(const NodeReader& node, size_t input, int64_t extent, const std::string& axis) {
  const Shape& shape = node.shape(input);
  if (element_count(shape) == 1) return element(in(input), Indices(shape.size(), "0"));
  Indices at(shape.size(), "0");
  size_t others = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == extent) at[i] = axis;
    others += shape[i] == 1 ? 0 : 1;
  }
  node.refuse_unless(element_count(shape) == extent && others == 1,
                     "a scale or zero point is neither one value nor one for each row or column");
  return element(in(input), at);
}

/// The i32 zero points that correct a sum of products; "" for a zero point of 0.
struct ZeroPoints {
  std::string a, b;
};

/// The corrected product at i0, i1, ..., from the sums of a * b, of a, and of za * b. The last two are known
/// ahead if za and b are.
std::string corrected(const ZeroPoints& zero, int64_t terms, const std::string& products,
                      const std::string& sums_of_a, const std::string& sums_of_zero_times_b) {
  std::string value = products;
  if (!zero.a.empty()) value += " - " + sums_of_zero_times_b;
  if (!zero.b.empty()) value += fmt::format(" - {} * {}", zero.b, sums_of_a);
  if (!zero.a.empty() && !zero.b.empty()) value += fmt::format(" + {} * {} * {}", terms, zero.a, zero.b);
  return value;
}

/// The numbers of the inputs.
struct Places {
  size_t a, a_zero, b, b_zero;
};

/// A product: its shape, and its value, an i32, at i0, i1, ...
struct IntegerProduct {
  Shape shape;
  std::string value;
};

/// An element of an operand: its batch indices, then the last two.
std::string batched(const Shape& shape, size_t input, size_t batch, const Indices& last) {
  Indices at;
  const size_t own = shape.size() - last.size();
  for (size_t i = 0; i < own; ++i) at.push_back(shape[i] == 1 ? "0" : fmt::format("i{}", batch - own + i));
  at.insert(at.end(), last.begin(), last.end());
  return typed(kI32, element(in(input), at));
}

IntegerProduct multiplied(const NodeReader& node, Script& script, const Places& places) {
  check_bytes(node, places.a, places.b);
  const Shape& a = node.shape(places.a);
  const Shape& b = node.shape(places.b);
  node.refuse_unless(a.size() >= 2 && b.size() >= 2 && a.back() == b[b.size() - 2],
                     "expected matrices that fit");
  Shape shape = broadcast_shape(node, Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2));
  const size_t batch = shape.size();
  shape.push_back(a[a.size() - 2]);
  shape.push_back(b.back());
  const std::string row = fmt::format("i{}", batch), column = fmt::format("i{}", batch + 1);
  const auto sum = [&](const std::string& term) { return reduction("sum", {"r0"}, {a.back()}, term); };
  const std::string of_a = batched(a, places.a, batch, {row, "r0"});
  const std::string of_b = batched(b, places.b, batch, {"r0", column});
  ZeroPoints zero;
  if (!is_zero(node, places.a_zero)) zero.a = typed(kI32, single_or(node, places.a_zero, shape[batch], row));
  if (!is_zero(node, places.b_zero))
    zero.b = typed(kI32, single_or(node, places.b_zero, shape[batch + 1], column));
  const std::string products = script.here(shape, sum(of_a + " * " + of_b));
  std::string sums_of_a, sums_of_b;
  const bool one_zero = !zero.a.empty() && element_count(node.shape(places.a_zero)) == 1;
  if (!zero.b.empty()) {
    const Shape rows(shape.begin(), shape.end() - 1);
    sums_of_a = script.here(rows, sum(of_a));
  }
  if (!zero.a.empty()) {
    // The sums have no axis of rows, so columns take its place.
    Shape columns = shape;
    columns.erase(columns.end() - 2);
    const std::string term = batched(b, places.b, batch, {"r0", row});
    const std::string array = script.make(columns, sum(one_zero ? zero.a + " * " + term : term));
    Indices at = axis_names(batch);
    at.push_back(column);
    sums_of_b = element(array, at);
    if (!one_zero) sums_of_b = zero.a + " * " + sums_of_b;
  }
  return {shape, corrected(zero, a.back(), products, sums_of_a, sums_of_b)};
}

/// The array that the windows read. The padding equals the zero point, so that it contributes nothing.
std::string padded_with(const NodeReader& node, Script& script, const Window& window, const Places& places) {
  if (!window.is_padded()) return in(places.a);
  const std::string outside = is_zero(node, places.a_zero) ? "0" : single_or(node, places.a_zero, 1, "0");
  const auto [shape, value] = padded(window, node.shape(places.a), in(places.a), outside);
  return script.make(shape, value);
}

IntegerProduct convolved_bytes(const NodeReader& node, Script& script, const Places& places) {
  check_bytes(node, places.a, places.b);
  const Shape& x = node.shape(places.a);
  const Shape& w = node.shape(places.b);
  const int64_t groups = node.integer("group", 1);
  node.refuse_unless(
      x.size() >= 3 && w.size() == x.size() && groups >= 1 && w[0] % groups == 0 && x[1] == w[1] * groups,
      "the channels of input and kernel do not fit the groups");
  check_kernel_shape(node, w);
  const Window window = read_window(node, spatial_shape(x), spatial_shape(w));
  node.refuse_unless(is_zero(node, places.a_zero) || element_count(node.shape(places.a_zero)) == 1,
                     "the input's zero point is not a single value");
  const std::string source = padded_with(node, script, window, places);
  const Shape shape = window.result(x[0], w[0]);
  const std::string group = groups == 1 ? "" : fmt::format("i1 // {}", w[0] / groups);
  const ConvolutionTerms terms = convolution_terms(window, w, group);
  const auto sum = [&](const std::string& term) { return reduction("sum", terms.axes, terms.extents, term); };
  const auto of_w = [&](const Indices& at) { return typed(kI32, element(in(places.b), at)); };
  ZeroPoints zero;
  if (!is_zero(node, places.a_zero)) zero.a = typed(kI32, single_or(node, places.a_zero, 1, "0"));
  if (!is_zero(node, places.b_zero)) zero.b = typed(kI32, single_or(node, places.b_zero, w[0], "i1"));
  const std::string products =
      script.here(shape, sum(typed(kI32, element(source, terms.x_at)) + " * " + of_w(terms.w_at)));
  std::string sums_of_x, sums_of_w;
  if (!zero.a.empty()) {
    Indices at = terms.w_at;
    at[0] = "i0";
    sums_of_w = element(script.make({w[0]}, sum(zero.a + " * " + of_w(at))), {"i1"});
  }
  if (!zero.b.empty()) {
    Shape of_groups = shape;
    of_groups[1] = groups;
    const Indices x_at = convolution_terms(window, w, groups == 1 ? "" : "i1").x_at;
    Indices at = axis_names(shape.size());
    at[1] = groups == 1 ? "0" : group;
    sums_of_x = element(script.make(of_groups, sum(typed(kI32, element(source, x_at)))), at);
  }
  return {shape, corrected(zero, element_count(terms.extents), products, sums_of_x, sums_of_w)};
}

Computation mat_mul_integer(const NodeReader& node) {
  Script script;
  const IntegerProduct made = multiplied(node, script, {0, 2, 1, 3});
  return computed(kI32, made.shape, script.text + statement(out(0), made.shape, made.value));
}

Computation conv_integer(const NodeReader& node) {
  Script script;
  const IntegerProduct made = convolved_bytes(node, script, {0, 2, 1, 3});
  return computed(kI32, made.shape, script.text + statement(out(0), made.shape, made.value));
}

/// Converts to bytes by the scales 1, 4 and 6 and the result's zero point 7. Casts to integers saturate.
Computation requantized(const NodeReader& node, Script& script, const IntegerProduct& sum,
                        const std::string& scale_of_a, const std::string& scale_of_b) {
  const DType given = node.dtype(1), type = wide(given), to = node.dtype(7);
  node.refuse_unless(given.is_float() && node.dtype(4) == given && node.dtype(6) == given,
                     "expected floating scales of one type");
  node.refuse_unless(
      (to == kU8 || to == kI8) && element_count(node.shape(7)) == 1 && element_count(node.shape(6)) == 1,
      "expected a result's scale and zero point of one value, of type u8 or i8");
  const std::string scale_of_y = element(in(6), Indices(node.rank(6), "0"));
  const std::string factor = fmt::format("({} * {} / {})", to_wide(given, scale_of_a),
                                         to_wide(given, scale_of_b), to_wide(given, scale_of_y));
  const std::string quotient = fmt::format("{}({}) * {}", type.str(), sum.value, factor);
  const std::string zero = typed(type, element(in(7), Indices(node.rank(7), "0")));
  const std::string value = rounded(quotient) + " + " + zero;
  return computed(to, sum.shape, script.text + statement(out(0), sum.shape, typed(to, value)));
}

Computation q_linear_mat_mul(const NodeReader& node) {
  Script script;
  const IntegerProduct made = multiplied(node, script, {0, 2, 3, 5});
  const size_t rank = made.shape.size();
  return requantized(node, script, made,
                     single_or(node, 1, made.shape[rank - 2], fmt::format("i{}", rank - 2)),
                     single_or(node, 4, made.shape[rank - 1], fmt::format("i{}", rank - 1)));
}

Computation q_linear_conv(const NodeReader& node) {
  Script script;
  IntegerProduct made = convolved_bytes(node, script, {0, 2, 3, 5});
  if (node.has(8)) {
    node.refuse_unless(node.dtype(8) == kI32 && node.shape(8) == Shape{made.shape[1]},
                       "the bias is not one i32 for each channel");
    made.value += " + in8[i1]";
  }
  return requantized(node, script, made, single_or(node, 1, 1, "0"), single_or(node, 4, made.shape[1], "i1"));
}

}  // namespace

std::vector<Row> integer_product_operators() {
  return {{"MatMulInteger", 10, mat_mul_integer},
          {"ConvInteger", 10, conv_integer, false, true},
          {"QLinearMatMul", 10, q_linear_mat_mul},
          {"QLinearConv", 10, q_linear_conv, false, true}};
}

}  // namespace tunesmith::operators_onnx
