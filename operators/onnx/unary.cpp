// Element-wise operators of one input, a line for each.
#include <fmt/format.h>

#include "registry.h"
#include "statements.h"

namespace tunesmith::operators_onnx {
namespace {

enum class UnaryTypes { Floats, Numbers };

void check_unary(const NodeReader& node, UnaryTypes types) {
  const DType dtype = node.dtype(0);
  if (dtype.is_bool() || (types == UnaryTypes::Floats && !dtype.is_float()))
    node.refuse(fmt::format("an input of type {} is not taken", dtype.str()),
                types == UnaryTypes::Floats ? "expected floating values" : "expected numbers");
}

struct Unary {
  std::string_view name;
  int64_t since;
  UnaryTypes types;
  std::string_view value;        ///< a pattern: {x} is the argument, {t} its type
  std::string_view of_f64 = {};  ///< the pattern for f64, if different
};

/// Computed in f64, because the value near 0 would lose its digits in f32.
/// Two roots, because that of x * x - 1 hides an x below 1, for which there is no value.
constexpr std::string_view kAcosh = "{t}(log(f64({x}) + sqrt(f64({x}) - 1) * sqrt(f64({x}) + 1)))";
constexpr std::string_view kAsinh =
    "select({x} < 0, -1, {t}(1)) * {t}(log(f64(abs({x})) + sqrt(f64({x}) * f64({x}) + 1)))";
/// In f64, where nothing is wider, avoids squares of large numbers.
constexpr std::string_view kAcoshOfF64 = "log({x}) + log(1 + sqrt(1 - 1 / ({x} * {x})))";
constexpr std::string_view kAsinhOfF64 =
    "select({x} < 0, -1, {t}(1)) * (log(max(1, abs({x}))) + log(min(1, abs({x})) + sqrt(min(1, abs({x})) * "
    "min(1, abs({x})) + 1 / (max(1, abs({x})) * max(1, abs({x}))))))";
constexpr std::string_view kAtanh = "{t}(0.5 * log((1 + f64({x})) / (1 - f64({x}))))";
/// Multiplies two halves, because exp(x) overflows before the result does.
constexpr std::string_view kCosh = "0.5 * exp(0.5 * abs({x})) * exp(0.5 * abs({x})) + 0.5 * exp(-abs({x}))";
constexpr std::string_view kSinh =
    "tanh({x}) * (0.5 * exp(0.5 * abs({x})) * exp(0.5 * abs({x})) + 0.5 * exp(-abs({x})))";

constexpr Unary kUnary[] = {
    {"Abs", 1, UnaryTypes::Numbers, "abs({x})"},
    {"Neg", 1, UnaryTypes::Numbers, "-{x}"},
    {"Sign", 9, UnaryTypes::Numbers, "select({x} > 0, {t}(1), select({x} < 0, -{t}(1), {x}))"},
    {"Ceil", 1, UnaryTypes::Floats, "ceil({x})"},
    {"Floor", 1, UnaryTypes::Floats, "floor({x})"},
    {"Round", 11, UnaryTypes::Floats, "round_even({x})"},
    {"Exp", 1, UnaryTypes::Floats, "exp({x})"},
    {"Log", 1, UnaryTypes::Floats, "log({x})"},
    {"Sqrt", 1, UnaryTypes::Floats, "sqrt({x})"},
    {"Reciprocal", 1, UnaryTypes::Floats, "1 / {x}"},
    {"Erf", 9, UnaryTypes::Floats, "erf({x})"},
    {"Sigmoid", 1, UnaryTypes::Floats, "sigmoid({x})"},
    {"Tanh", 1, UnaryTypes::Floats, "tanh({x})"},
    {"Sin", 7, UnaryTypes::Floats, "sin({x})"},
    {"Cos", 7, UnaryTypes::Floats, "cos({x})"},
    {"Tan", 7, UnaryTypes::Floats, "sin({x}) / cos({x})"},
    {"Cosh", 9, UnaryTypes::Floats, kCosh},
    {"Sinh", 9, UnaryTypes::Floats, kSinh},
    {"Acosh", 9, UnaryTypes::Floats, kAcosh, kAcoshOfF64},
    {"Asinh", 9, UnaryTypes::Floats, kAsinh, kAsinhOfF64},
    {"Atanh", 9, UnaryTypes::Floats, kAtanh},
    {"Softsign", 1, UnaryTypes::Floats, "{x} / (1 + abs({x}))"},
    {"Softplus", 1, UnaryTypes::Floats, "max(0, {x}) + log(1 + exp(-abs({x})))"},
    {"HardSwish", 14, UnaryTypes::Floats, "{x} * min(1, max(0, {x} / 6 + 0.5))"},
    {"Mish", 18, UnaryTypes::Floats, "{x} * tanh(max(0, {x}) + log(1 + exp(-abs({x}))))"},
    // The order of max's arguments keeps a NaN.
    {"Relu", 1, UnaryTypes::Numbers, "max(0, {x})"},
};

Computation define_unary(const NodeReader& node, const Unary& row) {
  check_unary(node, row.types);
  const Shape& shape = node.shape(0);
  const std::string x = here(in(0), shape);
  const DType dtype = node.dtype(0);
  const std::string_view value = dtype == kF64 && !row.of_f64.empty() ? row.of_f64 : row.value;
  // Several steps round once: in a narrow type, 1 + exp(-x) would lose a small exp(-x).
  const bool has_steps =
      row.types == UnaryTypes::Floats && value.find_first_of("+-*/") != std::string_view::npos;
  const DType type = has_steps ? wide(dtype) : dtype;
  return copied(node, shape,
                convert(type, dtype,
                        fmt::format(fmt::runtime(value), fmt::arg("x", convert(dtype, type, x)),
                                    fmt::arg("t", type.str()))));
}

Computation define_sign_of_unsigned(const NodeReader& node) {
  const Shape& shape = node.shape(0);
  return copied(node, shape, fmt::format("min(1, {})", here(in(0), shape)));
}

Computation define_is_nan(const NodeReader& node) {
  check_unary(node, UnaryTypes::Floats);
  const Shape& shape = node.shape(0);
  const std::string x = here(in(0), shape);
  return computed(kBool, shape, statement(out(0), shape, fmt::format("{0} != {0}", x)));
}

Computation define_is_inf(const NodeReader& node) {
  check_unary(node, UnaryTypes::Floats);
  const Shape& shape = node.shape(0);
  const std::string x = here(in(0), shape);
  const bool positive = node.flag("detect_positive", true);
  const bool negative = node.flag("detect_negative", true);
  std::string value = fmt::format("{0} < {0}", x);  // never
  if (positive && negative) value = fmt::format("abs({}) == inf", x);
  if (positive && !negative) value = fmt::format("{} == inf", x);
  if (negative && !positive) value = fmt::format("{} == -inf", x);
  return computed(kBool, shape, statement(out(0), shape, value));
}

}  // namespace

std::vector<Row> unary_operators() {
  std::vector<Row> rows;
  for (const Unary& row : kUnary) {
    const bool sign = row.name == "Sign";
    rows.push_back({row.name, row.since,
                    [&row, sign](const NodeReader& node) {
                      node.ignore("consumed_inputs");
                      if (sign && node.dtype(0).is_unsigned_int()) return define_sign_of_unsigned(node);
                      return define_unary(node, row);
                    },
                    true});
  }
  rows.push_back({"IsNaN", 9, define_is_nan});
  rows.push_back({"IsInf", 10, define_is_inf});
  return rows;
}

}  // namespace tunesmith::operators_onnx
