// Fused operators of com.microsoft, which onnxruntime's optimiser makes of several nodes.
#include <fmt/format.h>

#include "reduced.h"
#include "registry.h"
#include "statements.h"

namespace tunesmith::operators_onnx {
namespace {

/// An element-wise function of an input, to which a bias of the last axis is added if there is one.
Define biased(std::string (*value)(const NodeReader& node, const std::string& x)) {
  return [value](const NodeReader& node) {
    const DType dtype = node.dtype(0);
    const Shape& shape = node.shape(0);
    node.refuse_unless(dtype.is_float(), "expected floating values");
    std::string x = to_wide(dtype, here(in(0), shape));
    if (!node.has(1)) return copied(node, shape, from_wide(dtype, value(node, x)));
    node.refuse_unless(node.dtype(1) == dtype && !shape.empty() && node.shape(1) == Shape{shape.back()},
                       "the bias is not one value for each index of the last axis");
    Script script;
    x = script.here(shape, x + " + " + to_wide(dtype, broadcast(in(1), node.shape(1), shape)));
    return finished(dtype, shape, script.text, value(node, x));
  };
}

template <bool kByTanh>
std::string gelu_of(const NodeReader& /*node*/, const std::string& x) {
  return gelu(x, kByTanh);
}

std::string quick_gelu(const NodeReader& node, const std::string& x) {
  return fmt::format("{0} * sigmoid({1} * {0})", x, literal(node, node.number("alpha", 1.702)));
}

/// The inputs' sum, normalized along the last axis; output 3 is the sum.
Computation skip_normalization(const NodeReader& node, bool has_mean) {
  const DType dtype = node.dtype(0);
  const Shape& shape = node.shape(0);
  const size_t bias = has_mean ? 4 : 3;
  node.refuse_unless(dtype.is_float() && shape.size() >= 2, "expected floating values, of two axes or more");
  for (size_t i = 1; i < node.input_count(); ++i) {
    if (!node.has(i)) continue;
    const Shape expected = i == 1 ? node.shape(1) : Shape{shape.back()};
    node.refuse_unless(node.dtype(i) == dtype && node.shape(i) == expected &&
                           broadcast_shape(node, shape, node.shape(i)) == shape,
                       fmt::format("input {} is of another type or shape than the first input asks for", i));
  }
  node.refuse_unless(!node.wants(1) && !node.wants(2),
                     "its outputs 'mean' and 'inv_std_var' are not there yet");
  const auto given = [&](size_t input) {
    return to_wide(dtype, broadcast(in(input), node.shape(input), shape));
  };
  Script script;
  std::string sum = given(0) + " + " + given(1);
  if (node.has(bias)) sum += " + " + given(bias);
  const std::string total = script.make(shape, sum);
  const Reduced reduced = reduce(shape, {shape.size() - 1}, true);
  const std::string epsilon = literal(node, node.number("epsilon", 1e-12));
  const auto averaged = [&](const std::string& value) {
    return fmt::format("{} / {}", script.here(reduced.output, reduced.reduction("sum", value)),
                       reduced.count());
  };
  std::string centred = total;
  if (has_mean) {
    const std::string mean = script.make(reduced.output, averaged(element(total, reduced.read)));
    centred = script.make(shape, here(total, shape) + " - " + element(mean, reduced.of_kept));
  }
  const std::string square = fmt::format("{0} * {0}", element(centred, reduced.read));
  const std::string inverse =
      script.make(reduced.output, fmt::format("rsqrt({} + {})", averaged(square), epsilon));
  std::string value =
      fmt::format("{} * {} * {}", here(centred, shape), element(inverse, reduced.of_kept), given(2));
  if (has_mean && node.has(3)) value += " + " + given(3);
  std::string text = script.text + statement(out(0), shape, from_wide(dtype, value));
  if (node.wants(3)) text += statement(out(3), shape, from_wide(dtype, here(total, shape)));
  Computation made{
      {{dtype, shape}, {kF32, reduced.output}, {kF32, reduced.output}, {dtype, shape}}, {}, text};
  made.outputs.resize(std::max<size_t>(node.output_count(), 1));
  return made;
}

/// The function that attribute 'activation' names, applied to the element x.
std::string activation_of(const NodeReader& node, const std::string& x) {
  const std::string name = node.text("activation", "");
  const std::vector<double> given = node.numbers("activation_params").value_or(std::vector<double>());
  const auto number = [&](size_t i, double otherwise) {
    return literal(node, i < given.size() ? given[i] : otherwise);
  };
  if (name.empty()) return x;
  if (name == "Relu") return fmt::format("max(0, {})", x);
  if (name == "Tanh") return fmt::format("tanh({})", x);
  if (name == "Sigmoid") return fmt::format("sigmoid({})", x);
  if (name == "LeakyRelu") return fmt::format("select({0} < 0, {1} * {0}, {0})", x, number(0, 0.01));
  if (name == "HardSigmoid")
    return fmt::format("max(0, min(1, {1} * {0} + {2}))", x, number(0, 0.2), number(1, 0.5));
  node.refuse_unless(name == "Clip" && given.size() == 2,
                     fmt::format("attribute 'activation' is '{}'", name));
  return fmt::format("min({2}, max({1}, {0}))", x, number(0, 0), number(1, 0));
}

/// Multiplies by weights of 4 or 8 bits, in blocks [columns, blocks, bytes] with a scale and zero point each.
Computation mat_mul_n_bits(const NodeReader& node) {
  const Shape& a = node.shape(0);
  const int64_t terms = node.integer("K", 0), columns = node.integer("N", 0), bits = node.integer("bits", 4);
  const int64_t block = node.integer("block_size", 0);
  node.ignore("accuracy_level");
  node.refuse_unless((bits == 4 || bits == 8) && block >= 2 && block % 2 == 0 && columns >= 1 && terms >= 1,
                     "expected attributes 'bits' of 4 or 8 and an even 'block_size'");
  const int64_t blocks = (terms + block - 1) / block, bytes = block * bits / 8;
  const DType dtype = node.dtype(0), type = wide(dtype);
  node.refuse_unless(dtype.is_float() && !a.empty() && a.back() == terms && node.dtype(1) == kU8 &&
                         node.shape(1) == Shape{columns, blocks, bytes},
                     "expected rows of 'K' floating values, and bytes [N, blocks, bytes of a block]");
  node.refuse_unless(
      element_count(node.shape(2)) == columns * blocks && node.dtype(2) == dtype && node.rank(2) <= 2,
      "the scales are not one for each block");
  node.refuse_unless(!node.has(4), "its input 'g_idx' is not taken");
  const auto of_block = [&](size_t input, const std::string& at) {
    return node.rank(input) == 1 ? element(in(input), {fmt::format("i0*{} + {}", blocks, at)})
                                 : element(in(input), {"i0", at});
  };
  const std::string in_block = fmt::format("(i1 // {})", block);
  std::string zero = bits == 4 ? "8" : "128";
  if (node.has(3)) {
    node.refuse_unless(node.dtype(3) == kU8 && node.rank(3) <= 2, "the zero points are not u8");
    const int64_t row = bits == 4 ? (blocks + 1) / 2 : blocks;
    node.refuse_unless(element_count(node.shape(3)) == columns * row,
                       "the zero points are not one for each block");
    const std::string byte = bits == 4 ? fmt::format("{} // 2", in_block) : in_block;
    zero = node.rank(3) == 1 ? element(in(3), {fmt::format("i0*{} + {}", row, byte)})
                             : element(in(3), {"i0", byte});
    zero = fmt::format(
        "i32({})",
        bits == 4 ? fmt::format("select({1} % 2 == 0, {0} % 16, {0} // 16)", zero, in_block) : zero);
  }
  const std::string byte = element(
      in(1),
      {"i0", in_block, bits == 4 ? fmt::format("i1 % {} // 2", block) : fmt::format("i1 % {}", block)});
  const std::string code = bits == 4 ? fmt::format("select(i1 % 2 == 0, {0} % 16, {0} // 16)", byte) : byte;
  Script script;
  const std::string weights = script.make(
      {columns, terms},
      fmt::format("{}(i32({}) - {}) * {}", type.str(), code, zero, to_wide(dtype, of_block(2, in_block))));
  Shape shape = a;
  shape.back() = columns;
  Indices at = axis_names(a.size());
  const std::string column = at.back();
  at.back() = "r0";
  std::string value = script.here(
      shape, reduction("sum", {"r0"}, {terms},
                       to_wide(dtype, element(in(0), at)) + " * " + element(weights, {column, "r0"})));
  if (node.has(5)) value += " + " + to_wide(dtype, element(in(5), {column}));
  return finished(dtype, shape, script.text, value);
}

/// The numbers of the inputs that hold x, its scale and its zero point.
struct Quantized {
  size_t values, scale, zero;
};

std::string dequantized(const NodeReader& node, const Quantized& of, const Shape& shape) {
  const DType type = node.dtype(of.scale);
  node.refuse_unless(type.is_float() && element_count(node.shape(of.scale)) == 1,
                     "a scale is not a single floating value");
  const auto single = [&](size_t input) { return element(in(input), Indices(node.rank(input), "0")); };
  std::string value = fmt::format("i32({})", broadcast(in(of.values), node.shape(of.values), shape));
  if (node.has(of.zero)) {
    node.refuse_unless(element_count(node.shape(of.zero)) == 1, "a zero point is not a single value");
    value = fmt::format("({} - i32({}))", value, single(of.zero));
  }
  return fmt::format("({}({}) * {})", type.str(), value, single(of.scale));
}

/// Quantizes `value` to integers of input 0's type.
Computation quantized(const NodeReader& node, const Shape& shape, const std::string& value, size_t scale,
                      size_t zero) {
  const DType to = node.dtype(0);
  node.refuse_unless(
      (to == kU8 || to == kI8) && element_count(node.shape(scale)) == 1 && node.dtype(scale) == node.dtype(1),
      "expected u8 or i8, and scales of one value and type");
  std::string whole =
      rounded(fmt::format("{} / {}", value, element(in(scale), Indices(node.rank(scale), "0"))));
  if (node.has(zero))
    whole += " + " + typed(node.dtype(scale), element(in(zero), Indices(node.rank(zero), "0")));
  return computed(to, shape, statement(out(0), shape, typed(to, whole)));
}

Define q_linear_binary(char operation) {
  return [operation](const NodeReader& node) {
    const Shape shape = broadcast_shape(node, node.shape(0), node.shape(3));
    node.refuse_unless(node.dtype(3) == node.dtype(0), "its operands are of different types");
    return quantized(node, shape,
                     fmt::format("({} {} {})", dequantized(node, {0, 1, 2}, shape), operation,
                                 dequantized(node, {3, 4, 5}, shape)),
                     6, 7);
  };
}

Define q_linear_unary(std::string (*value)(const NodeReader& node, const std::string& x)) {
  return [value](const NodeReader& node) {
    const Shape& shape = node.shape(0);
    return quantized(node, shape, fmt::format("({})", value(node, dequantized(node, {0, 1, 2}, shape))), 3,
                     4);
  };
}

}  // namespace

Define with_activation(Computation (*define)(const NodeReader& node, std::string_view result)) {
  return [define](const NodeReader& node) {
    const std::string result = "t99";  // a name that no other statement has
    Computation made = define(node, result);
    const Shape& shape = made.outputs[0].shape;
    made.compute += statement(out(0), shape, activation_of(node, here(result, shape)));
    return made;
  };
}

std::vector<Row> fused_operators() {
  return {
      {"com.microsoft.Gelu", 1, biased(gelu_of<false>)},
      {"com.microsoft.BiasGelu", 1, biased(gelu_of<false>)},
      {"com.microsoft.FastGelu", 1, biased(gelu_of<true>)},
      {"com.microsoft.QuickGelu", 1, biased(quick_gelu)},
      {"com.microsoft.SkipLayerNormalization", 1,
       [](const NodeReader& node) { return skip_normalization(node, true); }},
      {"com.microsoft.SkipSimplifiedLayerNormalization", 1,
       [](const NodeReader& node) { return skip_normalization(node, false); }},
      {"com.microsoft.MatMulNBits", 1, mat_mul_n_bits},
      {"com.microsoft.QLinearAdd", 1, q_linear_binary('+')},
      {"com.microsoft.QLinearMul", 1, q_linear_binary('*')},
      {"com.microsoft.QLinearSigmoid", 1,
       q_linear_unary([](const NodeReader&, const std::string& x) { return fmt::format("sigmoid({})", x); })},
      {"com.microsoft.QLinearLeakyRelu", 1, q_linear_unary([](const NodeReader& node, const std::string& x) {
         return fmt::format("select({0} < 0, {1} * {0}, {0})", x, literal(node, node.number("alpha", 0.01)));
       })},
  };
}

}  // namespace tunesmith::operators_onnx
