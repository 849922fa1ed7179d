// Random networks of operators over square matrices, with branches that meet again. Inputs of integers are
// indices.
#pragma once

#include <map>
#include <random>

#include "onnx_network.h"
#include "operators_onnx/find_operator.h"
#include "tunesmith/network/pass.h"

namespace tunesmith::network {

inline Network resolved(Network network) {
  run_passes(network, {operators_onnx::find_operator, {}});
  return network;
}

/// Runs only the passes for types and shapes.
inline Network typed(Network network) {
  for (const Pass& pass : passes().first(2)) pass.run(network, {operators_onnx::find_operator, {}});
  return network;
}

inline std::vector<std::string> operators_of(const Network& network) {
  std::vector<std::string> result;
  for (const Node& node : network.nodes) result.push_back(node.op);
  return result;
}

/// Reading recent tensors makes networks deep.
inline std::string one_of_the_last(const std::vector<std::string>& tensors, size_t count,
                                   std::mt19937& random) {
  const size_t last = std::min(tensors.size(), count);
  return tensors[tensors.size() - 1 - std::uniform_int_distribution<size_t>(0, last - 1)(random)];
}

/// Numbers of both signs that repeat after `period`.
inline std::vector<double> weights(int64_t count, int64_t period) {
  std::vector<double> result;
  for (int64_t i = 0; i < count; ++i) result.push_back(static_cast<double>(i % period - period / 2) / 8);
  return result;
}

inline Network random_network_as_drawn(std::mt19937& random, int nodes, int64_t extent) {
  Builder builder;
  builder.input("x0", kF32, {extent, extent});
  builder.input("x1", kF32, {extent, extent});
  builder.input("rows", kI64, {extent});
  builder.input("places", kI32, {extent, extent});
  builder.numbers("w", {extent, extent}, weights(extent * extent, 7));
  builder.numbers("v", {extent, extent}, weights(extent * extent, 9));
  builder.numbers("half", {1}, {0.5});
  std::vector<std::string> tensors = {"x0", "x1"};
  const auto drawn = [&] { return one_of_the_last(tensors, 4, random); };
  for (int i = 0; i < nodes; ++i) {
    const std::string result = "t" + std::to_string(i);
    switch (std::uniform_int_distribution<int>(0, 11)(random)) {
      case 0:
        builder.node("MatMul", {drawn(), "w"}, {result});
        break;
      case 1:
        builder.node("MatMul", {drawn(), drawn()}, {result});
        break;
      case 2:
        builder.node("Add", {drawn(), drawn()}, {result});
        break;
      case 3:
        builder.node("Mul", {drawn(), "w"}, {result});
        break;
      case 4:
        builder.node("Tanh", {drawn()}, {result});
        break;
      case 5:
        builder.node("Softmax", {drawn()}, {result});
        break;
      case 6:
        builder.node("Transpose", {drawn()}, {result}, {{"perm", std::vector<int64_t>{1, 0}}});
        break;
      case 7:
        builder.node("Gather", {drawn(), "rows"}, {result});
        break;
      case 8:
        builder.node("GatherElements", {drawn(), "places"}, {result}, {{"axis", int64_t{1}}});
        break;
      case 9: {
        const std::string both = drawn();
        builder.node("MatMul", {both, "w"}, {result + "_"});
        builder.node("MatMul", {both, "v"}, {result});
        tensors.push_back(result + "_");
        break;
      }
      case 10:
        builder.node("Mul", {drawn(), "half"}, {result});
        break;
      default:
        builder.node("Sigmoid", {drawn()}, {result});
    }
    tensors.push_back(result);
  }
  return builder.finish({tensors.back(), tensors[tensors.size() - 2]});
}

inline Network random_network(std::mt19937& random, int nodes, int64_t extent) {
  return resolved(random_network_as_drawn(random, nodes, extent));
}

/// Convolutions, pooling and residuals over images of six rows and columns.
inline Network random_image_graph(std::mt19937& random, int nodes) {
  constexpr int64_t kChannels = 4, kExtent = 6;
  Builder builder;
  builder.input("x", kF32, {int64_t{1}, kChannels, kExtent, kExtent});
  builder.input("places", kI64, {int64_t{1}, kChannels, kExtent, kExtent});
  for (const int64_t kernel : {1, 3})
    builder.numbers(kernel == 1 ? "w1" : "w3", {kChannels, kChannels, kernel, kernel},
                    weights(kChannels * kChannels * kernel * kernel, 5));
  builder.numbers("scale", {1, kChannels, 1, 1}, {0.5, -1, 2, 1});
  const std::vector<int64_t> padding(4, 1);
  std::vector<std::string> tensors = {"x"};
  const auto drawn = [&] { return one_of_the_last(tensors, 3, random); };
  for (int i = 0; i < nodes; ++i) {
    const std::string result = "t" + std::to_string(i);
    switch (std::uniform_int_distribution<int>(0, 6)(random)) {
      case 0:
        builder.node("Conv", {drawn(), "w1"}, {result});
        break;
      case 1:
        builder.node("Conv", {drawn(), "w3"}, {result}, {{"pads", padding}});
        break;
      case 2:
        builder.node("MaxPool", {drawn()}, {result},
                     {{"kernel_shape", std::vector<int64_t>{3, 3}}, {"pads", padding}});
        break;
      case 3:
        builder.node("Add", {drawn(), drawn()}, {result});
        break;
      case 4:
        builder.node("Mul", {drawn(), "scale"}, {result});
        break;
      case 5:
        builder.node("GatherElements", {drawn(), "places"}, {result}, {{"axis", int64_t{2}}});
        break;
      default:
        builder.node("Tanh", {drawn()}, {result});
    }
    tensors.push_back(result);
  }
  builder.node("Conv", {tensors.back(), "w1"}, {"last"});
  builder.node("GlobalAveragePool", {"last"}, {"mean"});
  return builder.finish({"mean", tensors[tensors.size() - 2]});
}

/// Joins images by Concat: computed, joined, shared and given ones, and parts of one product.
inline Network random_joined_graph(std::mt19937& random, int nodes) {
  Builder builder;
  builder.input("x", kF32, {int64_t{1}, int64_t{3}, int64_t{5}, int64_t{5}});
  std::map<std::string, int64_t> channels = {{"x", 3}};
  std::vector<std::string> images = {"x"}, joined;
  const auto drawn = [&] { return one_of_the_last(images, 4, random); };
  const auto below = [&](int64_t end) { return std::uniform_int_distribution<int64_t>(0, end - 1)(random); };
  const auto convolve = [&](const std::string& of, const std::string& result, int64_t to, int64_t kernel) {
    const int64_t from = channels.at(of), elements = to * from * kernel * kernel;
    builder.numbers(result + "_w", {to, from, kernel, kernel}, weights(elements, 5 + 2 * below(3)));
    builder.node("Conv", {of, result + "_w"}, {result}, {{"pads", std::vector<int64_t>(4, kernel / 2)}});
    channels[result] = to;
  };
  const auto join = [&](std::vector<std::string> parts, const std::string& result) {
    for (const std::string& part : parts) channels[result] += channels.at(part);
    builder.node("Concat", parts, {result}, {{"axis", int64_t{1}}});
  };
  for (int i = 0; i < nodes; ++i) {
    const std::string result = "t" + std::to_string(i);
    const int64_t kind = below(7);
    switch (kind) {
      case 0:
      case 1:
        join({drawn(), drawn()}, result);
        joined.push_back(result);
        break;
      case 2: {  // joins an image and a convolution of it
        const std::string before = joined.empty() ? drawn() : joined.back();
        convolve(before, result + "c", 2, 3);
        join({before, result + "c"}, result);
        joined.push_back(result);
        break;
      }
      case 3: {  // two convolutions of one image; one is joined with a convolution of the other
        const std::string of = drawn();
        convolve(of, result + "a", 2, 1);
        convolve(of, result + "b", 2, 1);
        convolve(result + "a", result + "m", 2, 3);
        join({result + "m", result + "b"}, result);
        break;
      }
      case 4:
      case 5: {
        const std::string of = drawn();
        std::map<std::string, Attribute> window{{"kernel_shape", std::vector<int64_t>{3, 3}},
                                                {"pads", std::vector<int64_t>(4, 1)}};
        if (kind == 4) window.clear();
        builder.node(kind == 4 ? "Tanh" : "MaxPool", {of}, {result}, window);
        channels[result] = channels.at(of);
        break;
      }
      default:
        convolve(drawn(), result, 1 + below(3), 1 + 2 * below(2));
    }
    images.push_back(result);
  }
  join({images.back(), images[images.size() - 2], drawn()}, "all");
  convolve("all", "last", 3, 1);
  return builder.finish({"last", below(2) == 0 ? "all" : images.back()});
}

inline Network random_image_network(std::mt19937& random, int nodes) {
  return resolved(random_image_graph(random, nodes));
}

}  // namespace tunesmith::network
