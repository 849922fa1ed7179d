// Networks of quantized tensors, compared before and after all passes.
#pragma once

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "random_network.h"
#include "tunesmith/network/evaluate.h"

namespace tunesmith::network {

using Extents = std::vector<Extent>;

inline std::vector<double> drawn_integers(std::mt19937& random, int64_t count, int least, int most) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(std::uniform_int_distribution<int>(least, most)(random));
  return values;
}

inline std::vector<double> drawn_scales(std::mt19937& random, int64_t count) {
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(static_cast<float>(std::uniform_real_distribution<>(0.01, 0.1)(random)));
  return values;
}

/// Adds nodes that quantize and dequantize; each function returns the name of the dequantized tensor.
class Quantizing : public Builder {
 public:
  explicit Quantizing(unsigned seed) : random(seed) {}

  std::string to_bytes(const std::string& of, DType dtype, std::optional<double> scale = {}) {
    const std::string name = of + "_q";
    numbers(name + "_s", {}, scale ? std::vector{*scale} : drawn_scales(random, 1));
    numbers(name + "_z", {}, drawn_integers(random, 1, dtype == kU8 ? 90 : -40, dtype == kU8 ? 160 : 40),
            dtype);
    node("QuantizeLinear", {of, name + "_s", name + "_z"}, {name});
    node("DequantizeLinear", {name, name + "_s", name + "_z"}, {name + "_d"});
    return name + "_d";
  }

  /// `channels` 0: one scale.
  std::string weights(const std::string& name, const Shape& shape, DType dtype, int64_t channels,
                      int64_t axis, bool has_zero) {
    const int least = dtype == kU8 ? 0 : -128;
    numbers(name, shape, drawn_integers(random, element_count(shape), least, least + 255), dtype);
    const Shape scales = channels == 0 ? Shape{} : Shape{channels};
    numbers(name + "_s", scales, drawn_scales(random, element_count(scales)));
    std::vector<std::string> inputs{name, name + "_s"};
    if (has_zero) {
      numbers(name + "_z", scales, drawn_integers(random, element_count(scales), least + 100, least + 150),
              dtype);
      inputs.push_back(name + "_z");
    }
    node("DequantizeLinear", inputs, {name + "_d"}, {{"axis", axis}});
    return name + "_d";
  }

  /// Like onnxruntime's: integers with the product's scale.
  std::string bias(const std::string& name, int64_t channels, const std::string& x, const std::string& w) {
    numbers(name, {channels}, drawn_integers(random, channels, -5000, 5000), kI32);
    node("Mul", {x + "_s", w + "_s"}, {name + "_s1"});
    integers(name + "_shape", {static_cast<double>(channels)});
    node("Expand", {name + "_s1", name + "_shape"}, {name + "_s"});
    node("DequantizeLinear", {name, name + "_s"}, {name + "_d"}, {{"axis", int64_t{0}}});
    return name + "_d";
  }

  std::mt19937 random;
};

inline std::vector<tunesmith::Tensor> drawn_inputs(const Network& network, std::mt19937& random) {
  std::vector<tunesmith::Tensor> inputs;
  for (const TensorIndex index : network.inputs) {
    const Tensor& tensor = network.tensor(index);
    Shape shape;
    for (const Extent& extent : *tensor.shape) shape.push_back(std::get<int64_t>(extent));
    inputs.push_back(tunesmith::Tensor::zeros(*tensor.dtype, shape));
    for (int64_t i = 0; i < inputs.back().elements(); ++i)
      inputs.back().set(i, std::uniform_real_distribution<>(-4, 4)(random));
  }
  return inputs;
}

/// The largest difference between the network's results before and after all passes.
inline double difference(const Network& network, std::mt19937& random) {
  const Network before = typed(network), after = resolved(network);
  const std::vector<tunesmith::Tensor> inputs = drawn_inputs(before, random);
  const std::vector<tunesmith::Tensor> left = evaluate(before, inputs), right = evaluate(after, inputs);
  double largest = 0;
  for (size_t i = 0; i < left.size(); ++i) {
    EXPECT_EQ(left[i].shape, right[i].shape);
    double size = 1;
    for (int64_t j = 0; j < left[i].elements(); ++j) size = std::max(size, std::abs(left[i].get(j)));
    for (int64_t j = 0; j < left[i].elements(); ++j)
      largest = std::max(largest, std::abs(left[i].get(j) - right[i].get(j)) / size);
  }
  return largest;
}

/// The nodes of an operator.
inline std::vector<const Node*> nodes_of(const Network& network, const std::string& op) {
  std::vector<const Node*> found;
  for (const Node& node : network.nodes)
    if (node.op == op) found.push_back(&node);
  return found;
}

}  // namespace tunesmith::network
