#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tl/expected.hpp>

#include "dequantized.h"
#include "joined.h"
#include "merge_scales.h"
#include "passes.h"
#include "tunesmith/network/operator.h"
#include "tunesmith/network/products_in_floats.h"
#include "unique_name.h"

namespace tunesmith::network {
namespace {

/// Half the number of values of a byte: the offset between u8 and i8.
constexpr int64_t kHalf = 128;
/// The largest i32.
constexpr int64_t kMaxSum = (int64_t{1} << 31) - 1;

/// Converts bytes to i8 or u8, and integers of fewer bits to bytes.
class ShiftOperator final : public Operator {
 public:
  explicit ShiftOperator(DType to) : to_(to) {}

  Computation define(const NodeView& view) const override {
    const TensorType& from = view.inputs.at(0)->type;
    const int64_t offset = from.dtype == to_ ? 0 : to_ == kI8 ? -kHalf : kHalf;
    std::vector<std::string> axes, at;
    for (size_t i = 0; i < from.shape.size(); ++i) {
      axes.push_back(fmt::format("i{}<{}", i, from.shape[i]));
      at.push_back(fmt::format("i{}", i));
    }
    return {{{to_, from.shape}},
            {},
            fmt::format("out0[{}] = {}(i32(in0[{}]) {} {})\n", fmt::join(axes, ", "), to_.str(),
                        fmt::join(at, ", "), offset < 0 ? '-' : '+', std::abs(offset))};
  }

 private:
  DType to_;
};

const ShiftOperator kToI8{kI8}, kToU8{kU8};

/// A product or convolution of dequantized tensors.
struct Product {
  Dequantized a, b;
  std::string op;                 // the integer operator
  size_t channels = 0;            // the axis of the result along which b's scales differ
  int64_t largest_sum = 0;        // absolute value
  std::vector<double> bias = {};  // by channel
  TensorIndex added = kAbsent;    // a bias that is added in floating point
  bool b_transposed = false;
};

class Multiplying {
 public:
  Multiplying(Network& network, const PassOptions& options)
      : network_(network), options_(options), makers_(makers_of(network)) {}

  void run() {
    for (size_t i = 0; i < network_.nodes.size(); ++i) {
      if (const tl::expected<Product, std::string> product = product_at(i))
        rewrite(network_.nodes[i], *product);
      else
        made_.push_back(network_.nodes[i]);
    }
    network_.nodes = std::move(made_);
  }

  /// One line for each unchanged node that reads dequantized tensors.
  std::vector<std::string> left() const {
    std::vector<std::string> lines;
    for (size_t i = 0; i < network_.nodes.size(); ++i) {
      const tl::expected<Product, std::string> product = product_at(i);
      if (!product && !product.error().empty())
        lines.push_back(describe(network_.nodes[i]) + " computes in floats: " + product.error());
    }
    return lines;
  }

 private:
  const Tensor& tensor(TensorIndex index) const { return network_.tensor(index); }
  Shape shape_of(TensorIndex index) const { return input_of(tensor(index)).type.shape; }

  static double number(const Node& node, const char* name, double otherwise) {
    const auto found = node.attributes.find(name);
    if (found == node.attributes.end()) return otherwise;
    const auto* integer = std::get_if<int64_t>(&found->second);
    return integer ? static_cast<double>(*integer) : std::get<double>(found->second);
  }

  bool is_dequantized(TensorIndex tensor) const {
    const size_t maker = makers_[static_cast<size_t>(tensor)];
    return maker < network_.nodes.size() && network_.nodes[maker].op == "DequantizeLinear";
  }

  /// Or why the node stays unchanged; "" if it reads no dequantized tensor.
  tl::expected<Product, std::string> product_at(size_t position) const {
    const Node& node = network_.nodes[position];
    const bool convolves = node.op == "Conv", is_gemm = node.op == "Gemm";
    if ((!convolves && !is_gemm && node.op != "MatMul") ||
        (!is_dequantized(node.inputs[0]) && !is_dequantized(node.inputs[1])))
      return tl::make_unexpected("");
    const std::optional<Dequantized> a = dequantized(network_, makers_, node.inputs[0]);
    const std::optional<Dequantized> b = dequantized(network_, makers_, node.inputs[1]);
    if (!a || !b)
      return tl::make_unexpected("its operands are not both 8-bit integers with known, unblocked f32 scales");
    if (a->axis) return tl::make_unexpected("its first operand has several scales");
    Product product{*a, *b, convolves ? "ConvInteger" : "MatMulInteger"};
    product.channels = convolves ? 1 : shape_of(node.outputs[0]).size() - 1;
    product.b_transposed = is_gemm && number(node, "transB", 0) != 0;
    const Shape of_b = shape_of(b->values);
    if (shape_of(a->values).size() < 2 || of_b.size() < 2)
      return tl::make_unexpected("an operand is a vector");
    const size_t axis = convolves || product.b_transposed ? 0 : of_b.size() - 1;
    if (b->axis && *b->axis != axis)
      return tl::make_unexpected("the scales of its second operand vary along a summed axis");
    if (is_gemm &&
        (number(node, "alpha", 1) != 1 || number(node, "beta", 1) != 1 || number(node, "transA", 0) != 0))
      return tl::make_unexpected("expected attributes 'alpha' and 'beta' of 1 and 'transA' of 0");
    const int64_t terms = convolves ? element_count(of_b) / of_b[0] : of_b[axis == 0 ? 1 : axis - 1];
    product.largest_sum = terms * farthest(*a) * farthest(*b);
    if (product.largest_sum > kMaxSum) return tl::make_unexpected("its sums may overflow i32");
    if (!options_.find_operator(product.op, node.version))
      return tl::make_unexpected("the operator set has no " + product.op);
    return with_bias(node, std::move(product));
  }

  /// The largest difference between a byte and its zero point.
  int64_t farthest(const Dequantized& of) const {
    const int64_t least = tensor(of.values).dtype == kU8 ? 0 : -kHalf;
    int64_t distance = 0;
    for (const int64_t zero : of.zero)
      distance = std::max({distance, zero - least, least + 2 * kHalf - 1 - zero});
    return distance;
  }

  tl::expected<Product, std::string> with_bias(const Node& node, Product product) const {
    const TensorIndex bias = node.inputs.size() > 2 ? node.inputs[2] : kAbsent;
    if (bias == kAbsent) return product;
    const Shape shape = shape_of(bias);
    const int64_t channels = shape_of(node.outputs[0])[product.channels];
    if (tensor(bias).constant && shape == Shape{channels}) {
      product.bias = numbers_of(*tensor(bias).constant);
    } else if (product.op == "ConvInteger") {
      return tl::make_unexpected("its bias is computed");
    } else {
      product.added = bias;
    }
    return product;
  }

  TensorIndex made(const Node& of, const std::string& suffix, DType dtype, const Shape& shape) {
    return add_tensor(network_, tensor(of.outputs[0]).name + suffix, dtype, shape);
  }

  void add(const std::string& op, int64_t version, std::map<std::string, Attribute> attributes,
           std::vector<TensorIndex> inputs, TensorIndex output, const Operator* definition = nullptr) {
    made_.push_back({unique_name(network_, tensor(output).name + "/" + op),
                     op,
                     version,
                     std::move(attributes),
                     std::move(inputs),
                     {output},
                     definition ? definition : options_.find_operator(op, version)});
  }

  /// The operand as bytes of this type: instructions multiply u8 by i8.
  TensorIndex as(DType dtype, Dequantized& operand) {
    const Tensor& values = tensor(operand.values);
    if (values.dtype == dtype && values.code == Code::None) return operand.values;
    if (values.dtype != dtype)
      for (int64_t& zero : operand.zero) zero += dtype == kI8 ? -kHalf : kHalf;
    const TensorIndex shifted =
        add_tensor(network_, values.name + "/" + dtype.str(), dtype, shape_of(operand.values));
    add("tunesmith.Shift", 1, {}, {operand.values}, shifted, dtype == kI8 ? &kToI8 : &kToU8);
    return shifted;
  }

  /// kAbsent if all are 0.
  TensorIndex zero_points(DType dtype, const Node& of, const std::vector<int64_t>& zero) {
    if (std::ranges::all_of(zero, [](int64_t each) { return each == 0; })) return kAbsent;
    const bool same = std::ranges::all_of(zero, [&](int64_t each) { return each == zero.front(); });
    std::vector<double> values(zero.begin(), zero.end());
    if (same) values.resize(1);
    const auto count = static_cast<int64_t>(values.size());
    return add_constant(network_, tensor(of.outputs[0]).name + "/zero", dtype, same ? Shape{} : Shape{count},
                        values);
  }

  void rewrite(const Node& node, Product product) {
    const Shape shape = shape_of(node.outputs[0]);
    TensorIndex a = as(kU8, product.a), b = as(kI8, product.b);
    if (product.b_transposed) {
      const Shape own = shape_of(b);
      const TensorIndex turned = made(node, "/transposed", kI8, {own[1], own[0]});
      add("Transpose", node.version, {{"perm", std::vector<int64_t>{1, 0}}}, {b}, turned);
      b = turned;
    }
    TensorIndex sum = made(node, "/sum", kI32, shape);
    const std::vector<double> correction = known_correction(node, product);
    if (!correction.empty()) product.a.zero = {0};
    add(product.op, node.version, product.op == "ConvInteger" ? node.attributes : decltype(node.attributes)(),
        {a, b, zero_points(kU8, node, product.a.zero), zero_points(kI8, node, product.b.zero)}, sum);
    std::vector<double> scale;
    for (const double each : product.b.scale) scale.push_back(product.a.scale.front() * each);
    sum = with_integers(node, product.channels, integer_bias(product, scale), correction, sum);
    const bool adds = product.added != kAbsent || !product.bias.empty();
    const TensorIndex scaled = adds ? made(node, "/scaled", kF32, shape) : node.outputs[0];
    dequantize(node, product, scale, sum, scaled);
    if (!adds) return;
    TensorIndex added = product.added;
    if (added == kAbsent)
      added = add_constant(network_, tensor(node.outputs[0]).name + "/bias", kF32,
                           along_channels(shape, product.channels), product.bias);
    add("Add", node.version, {}, {scaled, added}, node.outputs[0]);
  }

  void dequantize(const Node& node, const Product& product, const std::vector<double>& scale, TensorIndex sum,
                  TensorIndex result) {
    const bool single = scale.size() == 1;
    const TensorIndex scales =
        add_constant(network_, tensor(node.outputs[0]).name + "/scale", kF32,
                     single ? Shape{} : Shape{static_cast<int64_t>(scale.size())}, scale);
    std::map<std::string, Attribute> attributes;
    if (!single) attributes["axis"] = static_cast<int64_t>(product.channels);
    const Node& pattern = network_.nodes[product.a.node];
    add(pattern.op, pattern.version, std::move(attributes), {sum, scales}, result, pattern.definition);
  }

  static Shape along_channels(const Shape& shape, size_t channels) {
    Shape along(shape.size() - channels, 1);
    along[0] = shape[channels];
    return along;
  }

  /// What the zero point of the first operand adds to each channel's sum, negated. Nothing if it is 0, the
  /// weights are unknown or have zero points, or the padding must equal the zero point.
  std::vector<double> known_correction(const Node& node, const Product& product) const {
    const auto is_zero = [](int64_t each) { return each == 0; };
    const Tensor& weights = tensor(product.b.values);
    const auto pads = node.attributes.find("pads"), automatic = node.attributes.find("auto_pad");
    const bool is_padded =
        (pads != node.attributes.end() &&
         !std::ranges::all_of(std::get<std::vector<int64_t>>(pads->second), is_zero)) ||
        (automatic != node.attributes.end() && std::get<std::string>(automatic->second) != "NOTSET");
    if (!weights.constant || is_padded || is_zero(product.a.zero.front()) ||
        !std::ranges::all_of(product.b.zero, is_zero))
      return {};
    const Shape shape = shape_of(product.b.values);
    const bool in_rows = product.op == "ConvInteger" || product.b_transposed;
    if (!in_rows && shape.size() != 2) return {};
    const auto channels = static_cast<size_t>(in_rows ? shape.front() : shape.back());
    const std::vector<double> values = numbers_of(*weights.constant);
    const size_t terms = values.size() / channels;
    const auto from_zero = static_cast<double>(weights.dtype == kU8 ? kHalf : 0);
    std::vector<double> correction(channels, 0.0);
    for (size_t i = 0; i < values.size(); ++i)
      correction[in_rows ? i / terms : i % channels] -=
          (values[i] - from_zero) * static_cast<double>(product.a.zero.front());
    return correction;
  }

  /// The bias as integers if, apart from f32's rounding, it is a multiple of the scale; then no other
  /// remains.
  static std::vector<double> integer_bias(Product& product, const std::vector<double>& scale) {
    constexpr double kRounding = 1.0 / (1 << 22);
    const auto largest = static_cast<double>(kMaxSum - product.largest_sum);
    std::vector<double> integers;
    for (size_t i = 0; i < product.bias.size(); ++i) {
      const double exact = product.bias[i] / scale[scale.size() == 1 ? 0 : i];
      integers.push_back(std::nearbyint(exact));
      if (std::abs(integers.back()) > largest ||
          std::abs(exact - integers.back()) > kRounding * std::max(1.0, std::abs(exact)))
        return {};
    }
    product.bias.clear();
    return integers;
  }

  /// Adds both to the sum of each channel. The whole fits an i32; a part of it may wrap around.
  TensorIndex with_integers(const Node& node, size_t channel_axis, std::vector<double> integers,
                            const std::vector<double>& more, TensorIndex sum) {
    if (integers.empty()) integers.assign(more.size(), 0.0);
    for (size_t i = 0; i < more.size(); ++i) integers[i] += more[i];
    if (integers.empty()) return sum;
    const Shape shape = shape_of(node.outputs[0]);
    const TensorIndex bias = add_constant(network_, tensor(node.outputs[0]).name + "/bias", kI32,
                                          along_channels(shape, channel_axis), integers);
    const TensorIndex biased = made(node, "/biased", kI32, shape);
    add("Add", node.version, {}, {sum, bias}, biased);
    return biased;
  }

  Network& network_;
  const PassOptions& options_;
  const std::vector<size_t> makers_;
  std::vector<Node> made_;
};

}  // namespace

std::vector<std::string> products_in_floats(const Network& network, const PassOptions& options) {
  Network looked_at = network;
  return Multiplying(looked_at, options).left();
}

void multiply_integers(Network& network, const PassOptions& options) {
  Multiplying(network, options).run();
  merge_scales(network);
  eliminate_dead_code(network, options);
}

}  // namespace tunesmith::network
