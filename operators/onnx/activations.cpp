// Activations with attributes.
#include <numbers>

#include <fmt/format.h>

#include "registry.h"
#include "statements.h"

namespace tunesmith::operators_onnx {
namespace {

/// Returns the activation's value for the element x.
using Value = std::function<std::string(const NodeReader&, const std::string& x)>;

Define activation(Value value) {
  return [value = std::move(value)](const NodeReader& node) {
    const DType dtype = node.dtype(0);
    node.refuse_unless(dtype.is_float(), "expected floating values");
    const Shape& shape = node.shape(0);
    const std::string x = to_wide(dtype, here(in(0), shape));
    return copied(node, shape, from_wide(dtype, value(node, x)));
  };
}

std::string attribute(const NodeReader& node, std::string_view name, double otherwise) {
  return literal(node, node.number(name, otherwise));
}

std::string elu(const NodeReader& node, const std::string& x) {
  return fmt::format("select({0} < 0, {1} * (exp({0}) - 1), {0})", x, attribute(node, "alpha", 1.0));
}

std::string selu(const NodeReader& node, const std::string& x) {
  const std::string alpha = attribute(node, "alpha", 1.67326319217681884765625);
  const std::string gamma = attribute(node, "gamma", 1.05070102214813232421875);
  return fmt::format("{2} * select({0} > 0, {0}, {1} * exp({0}) - {1})", x, alpha, gamma);
}

std::string celu(const NodeReader& node, const std::string& x) {
  const double alpha = node.number("alpha", 1.0);
  node.refuse_unless(alpha != 0.0, "attribute 'alpha' is 0");
  return fmt::format("max(0, {0}) + min(0, {1} * (exp({0} / {1}) - 1))", x, literal(node, alpha));
}

std::string shrink(const NodeReader& node, const std::string& x) {
  return fmt::format("select({0} < -{1}, {0} + {2}, select({0} > {1}, {0} - {2}, 0))", x,
                     attribute(node, "lambd", 0.5), attribute(node, "bias", 0.0));
}

Computation p_relu(const NodeReader& node) {
  const Shape& shape = node.shape(0);
  node.refuse_unless(node.dtype(0) == node.dtype(1), "the slope is of another type than the input");
  node.refuse_unless(!node.dtype(0).is_bool() && !node.dtype(0).is_unsigned_int(), "expected signed numbers");
  node.refuse_unless(broadcast_shape(node, shape, node.shape(1)) == shape,
                     "the slope does not broadcast to the input's shape");
  const std::string x = here(in(0), shape);
  return copied(node, shape,
                fmt::format("select({0} < 0, {1} * {0}, {0})", x, broadcast(in(1), node.shape(1), shape)));
}

/// Before version 7 the slope is one value, or one for each channel.
Computation p_relu_by_channel(const NodeReader& node) {
  const Shape& shape = node.shape(0);
  node.refuse_unless(node.dtype(0) == node.dtype(1) && node.dtype(0).is_float(),
                     "expected floating values of one type");
  const bool is_single = element_count(node.shape(1)) == 1;
  node.refuse_unless(is_single || (shape.size() >= 2 && node.shape(1) == Shape{shape[1]}),
                     "the slope is neither one value nor one for each channel");
  const std::string slope = element(in(1), is_single ? Indices(node.rank(1), "0") : Indices{"i1"});
  return copied(node, shape, fmt::format("select({0} < 0, {1} * {0}, {0})", here(in(0), shape), slope));
}

/// The Swish of the gate, times the gated values.
Computation swi_glu(const NodeReader& node) {
  const Shape& shape = node.shape(0);
  node.refuse_unless(node.dtype(0).is_float() && node.dtype(1) == node.dtype(0) && node.shape(1) == shape,
                     "expected two inputs of floating values, of one type and shape");
  const DType dtype = node.dtype(0);
  const auto of = [&](size_t input) { return to_wide(dtype, here(in(input), shape)); };
  const std::string value =
      fmt::format("{0} * sigmoid({1} * {0}) * {2}", of(0), attribute(node, "alpha", 1.0), of(1));
  return copied(node, shape, from_wide(dtype, value));
}

}  // namespace

std::string gelu(const std::string& x, bool by_tanh) {
  if (!by_tanh) return fmt::format("0.5 * {0} * (1 + erf({0} * {1}))", x, std::numbers::sqrt2 / 2);
  return fmt::format("0.5 * {0} * (1 + tanh({1} * ({0} + 0.044715 * {0} * {0} * {0})))", x,
                     std::numbers::sqrt2 * std::numbers::inv_sqrtpi);
}

std::vector<Row> activation_operators() {
  return {
      {"Elu", 6, activation(elu)},
      {"Selu", 6, activation(selu)},
      {"Celu", 12, activation(celu)},
      {"Gelu", 20, activation([](const NodeReader& node, const std::string& x) {
         return gelu(x, node.choice("approximate", {"none", "tanh"}) == "tanh");
       })},
      {"Shrink", 9, activation(shrink)},
      {"LeakyRelu", 6, activation([](const NodeReader& node, const std::string& x) {
         return fmt::format("select({0} < 0, {1} * {0}, {0})", x, attribute(node, "alpha", 0.01));
       })},
      {"ThresholdedRelu", 10, activation([](const NodeReader& node, const std::string& x) {
         return fmt::format("select({0} > {1}, {0}, 0)", x, attribute(node, "alpha", 1.0));
       })},
      {"HardSigmoid", 6, activation([](const NodeReader& node, const std::string& x) {
         return fmt::format("min(1, max(0, {1} * {0} + {2}))", x, attribute(node, "alpha", 0.2),
                            attribute(node, "beta", 0.5));
       })},
      {"Swish", 24, activation([](const NodeReader& node, const std::string& x) {
         return fmt::format("{0} * sigmoid({1} * {0})", x, attribute(node, "alpha", 1.0));
       })},
      {"SwiGLU", 28, swi_glu},
      {"PRelu", 6, p_relu_by_channel},
      {"PRelu", 7, p_relu},
  };
}

}  // namespace tunesmith::operators_onnx
