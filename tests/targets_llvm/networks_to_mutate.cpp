#include <cmath>
#include <random>

#include "graph_mutations.h"
#include "unit/network/random_network.h"

namespace tunesmith::testing {
namespace {

using network::Builder;
using network::Network;
using network::Shape;
using Integers = std::vector<int64_t>;

/// Numbers in [-1, 1) without symmetry.
std::vector<double> weights_of(const Shape& shape, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<double> values;
  for (int64_t i = 0; i < network::element_count(shape); ++i)
    values.push_back(std::ldexp(static_cast<double>(random() % 2048) - 1024, -10));
  return values;
}

void add_weights(Builder& builder, const std::string& name, const Shape& shape, uint32_t seed) {
  builder.numbers(name, shape, weights_of(shape, seed));
}

/// Attention and a layer of two products, each with its norm and its residual.
Network transformer() {
  constexpr int64_t kTokens = 6, kWidth = 8;
  Builder builder;
  builder.input("x", kF32, {kTokens, kWidth});
  uint32_t seed = 0;
  for (const char* name : {"wq", "wk", "wv", "wo", "w1", "w2"})
    add_weights(builder, name, {kWidth, kWidth}, ++seed);
  for (const char* name : {"g1", "b1", "g2", "b2"}) add_weights(builder, name, {kWidth}, ++seed);
  builder.numbers("scale", {}, {0.35});
  const auto norm = [&](const std::string& from, const std::string& number, const std::string& to) {
    builder.node("LayerNormalization", {from, "g" + number, "b" + number}, {to},
                 {{"axis", int64_t{-1}}, {"epsilon", 1e-3}});
  };
  norm("x", "1", "n1");
  builder.node("MatMul", {"n1", "wq"}, {"q"});
  builder.node("MatMul", {"n1", "wk"}, {"k"});
  builder.node("MatMul", {"n1", "wv"}, {"v"});
  builder.node("Transpose", {"k"}, {"kt"}, {{"perm", Integers{1, 0}}});
  builder.node("MatMul", {"q", "kt"}, {"s"});
  builder.node("Mul", {"s", "scale"}, {"scaled"});
  builder.node("Softmax", {"scaled"}, {"p"}, {{"axis", int64_t{-1}}});
  builder.node("MatMul", {"p", "v"}, {"a"});
  builder.node("MatMul", {"a", "wo"}, {"o"});
  builder.node("Add", {"x", "o"}, {"h"});
  norm("h", "2", "n2");
  builder.node("MatMul", {"n2", "w1"}, {"f1"});
  builder.node("Sigmoid", {"f1"}, {"f2"});
  builder.node("Mul", {"f1", "f2"}, {"f3"});
  builder.node("MatMul", {"f3", "w2"}, {"f4"});
  builder.node("Add", {"h", "f4"}, {"y"});
  return builder.finish({"y"});
}

/// Two residual blocks of convolutions with batch norms of their own.
Network residual_images() {
  constexpr int64_t kChannels = 4, kExtent = 6;
  Builder builder;
  builder.input("x", kF32, {int64_t{1}, kChannels, kExtent, kExtent});
  add_weights(builder, "w3", {kChannels, kChannels, 3, 3}, 1);
  add_weights(builder, "w1", {kChannels, kChannels, 1, 1}, 2);
  add_weights(builder, "bias", {kChannels}, 3);
  add_weights(builder, "gamma", {kChannels}, 4);
  add_weights(builder, "beta", {kChannels}, 5);
  add_weights(builder, "mean", {kChannels}, 6);
  builder.numbers("variance", {kChannels}, {0.5, 0.25, 0.75, 0.125});
  add_weights(builder, "depth", {kChannels, 1, 3, 3}, 7);
  const Integers pads(4, 1), threes{3, 3};
  builder.node("Conv", {"x", "w3", "bias"}, {"c1"}, {{"pads", pads}});
  builder.node("BatchNormalization", {"c1", "gamma", "beta", "mean", "variance"}, {"b1"},
               {{"epsilon", 1e-2}});
  builder.node("Relu", {"b1"}, {"r1"});
  builder.node("Conv", {"r1", "w1"}, {"c2"});
  builder.node("Add", {"c2", "x"}, {"s1"});
  builder.node("Tanh", {"s1"}, {"r2"});
  builder.node("Conv", {"r2", "depth"}, {"c3"}, {{"pads", pads}, {"group", kChannels}});
  builder.node("AveragePool", {"c3"}, {"m1"}, {{"kernel_shape", threes}, {"pads", pads}});
  builder.node("Add", {"m1", "r2"}, {"s2"});
  builder.node("MaxPool", {"s2"}, {"m2"},
               {{"kernel_shape", threes}, {"pads", pads}, {"strides", Integers{2, 2}}});
  builder.node("Conv", {"m2", "w1"}, {"c4"});
  builder.node("GlobalAveragePool", {"c4"}, {"mean1"});
  return builder.finish({"mean1", "s2"});
}

/// Operators that move elements.
Network movements() {
  Builder builder;
  builder.input("x", kF32, {int64_t{3}, int64_t{4}, int64_t{4}});
  builder.input("y", kF32, {int64_t{3}, int64_t{4}, int64_t{4}});
  builder.integers("starts", {1});
  builder.integers("ends", {3});
  builder.integers("axes", {1});
  builder.integers("pads", {0, 1, 0, 0, 1, 0});
  builder.integers("flat", {3, 16});
  add_weights(builder, "w", {16, 8}, 1);
  builder.node("Transpose", {"x"}, {"t1"}, {{"perm", Integers{0, 2, 1}}});
  builder.node("Sub", {"t1", "y"}, {"d1"});
  builder.node("Transpose", {"y"}, {"t2"}, {{"perm", Integers{0, 2, 1}}});
  builder.node("Mul", {"t2", "d1"}, {"m1"});
  builder.node("Concat", {"d1", "m1"}, {"joined"}, {{"axis", int64_t{1}}});
  builder.node("Slice", {"joined", "starts", "ends", "axes"}, {"part"});
  builder.node("Pad", {"part", "pads"}, {"wide"});
  builder.node("Add", {"wide", "x"}, {"sum"});
  builder.node("ReduceMax", {"sum"}, {"high"}, {{"axes", Integers{2}}, {"keepdims", int64_t{1}}});
  builder.node("Exp", {"sum"}, {"e"});
  builder.node("ReduceMean", {"e"}, {"average"}, {{"axes", Integers{2}}, {"keepdims", int64_t{1}}});
  builder.node("Div", {"e", "average"}, {"q"});
  builder.node("Mul", {"q", "high"}, {"product"});
  builder.node("Reshape", {"product", "flat"}, {"rows"});
  builder.node("MatMul", {"rows", "w"}, {"z"});
  return builder.finish({"z", "sum"});
}

/// Fully connected layers with all their attributes.
Network layers() {
  constexpr int64_t kRows = 8, kWidth = 8;
  Builder builder;
  builder.input("x", kF32, {kRows, kWidth});
  add_weights(builder, "w1", {kWidth, kWidth}, 1);
  add_weights(builder, "w2", {kWidth, kWidth}, 2);
  add_weights(builder, "w3", {kWidth, kWidth}, 3);
  add_weights(builder, "b1", {kWidth}, 4);
  add_weights(builder, "b2", {kWidth}, 5);
  builder.numbers("low", {}, {-0.75});
  builder.numbers("high", {}, {0.5});
  builder.node("Gemm", {"x", "w1", "b1"}, {"g1"}, {{"transB", int64_t{1}}, {"alpha", 0.5}, {"beta", 2.0}});
  builder.node("LeakyRelu", {"g1"}, {"l1"}, {{"alpha", 0.125}});
  builder.node("Gemm", {"l1", "w2", "b2"}, {"g2"}, {{"transB", int64_t{0}}, {"alpha", 0.75}, {"beta", 0.5}});
  builder.node("Elu", {"g2"}, {"l2"}, {{"alpha", 0.5}});
  builder.node("Add", {"l2", "l1"}, {"h"});
  builder.node("LpNormalization", {"h"}, {"n"}, {{"axis", int64_t{1}}, {"p", int64_t{2}}});
  builder.node("MatMul", {"n", "w3"}, {"m"});
  builder.node("Clip", {"m", "low", "high"}, {"c"});
  builder.node("LogSoftmax", {"c"}, {"y"}, {{"axis", int64_t{1}}});
  return builder.finish({"y", "h"});
}

/// Norms over images.
Network norms() {
  constexpr int64_t kChannels = 4, kExtent = 5;
  Builder builder;
  builder.input("x", kF32, {int64_t{2}, kChannels, kExtent, kExtent});
  add_weights(builder, "scale", {kChannels}, 1);
  add_weights(builder, "shift", {kChannels}, 2);
  add_weights(builder, "w", {kChannels, kChannels, 3, 3}, 3);
  builder.node("InstanceNormalization", {"x", "scale", "shift"}, {"i"}, {{"epsilon", 1e-2}});
  builder.node("Conv", {"i", "w"}, {"c"}, {{"pads", Integers(4, 1)}});
  builder.node("MeanVarianceNormalization", {"c"}, {"m"}, {{"axes", Integers{0, 2, 3}}});
  builder.node("Mul", {"m", "x"}, {"p"});
  builder.node("LRN", {"p"}, {"l"}, {{"size", int64_t{3}}, {"alpha", 0.5}, {"beta", 0.75}, {"bias", 1.5}});
  builder.node("Conv", {"l", "w"}, {"c2"}, {{"pads", Integers(4, 1)}});
  builder.node("Sub", {"c2", "i"}, {"y"});
  return builder.finish({"y"});
}

/// Layers that each add channels to those of all earlier ones, and parts of a product in another order.
Network joined_images() {
  constexpr int64_t kChannels = 3, kExtent = 4;
  Builder builder;
  builder.input("x", kF32, {int64_t{1}, kChannels, kExtent, kExtent});
  add_weights(builder, "w0", {kChannels, kChannels, 1, 1}, 1);
  add_weights(builder, "w1", {2, kChannels, 3, 3}, 2);
  add_weights(builder, "w2", {2, kChannels + 2, 3, 3}, 3);
  add_weights(builder, "w3", {2, kChannels + 4, 1, 1}, 4);
  add_weights(builder, "w4", {2, kChannels + 4, 1, 1}, 5);
  add_weights(builder, "w5", {2, 2, 3, 3}, 6);
  add_weights(builder, "w6", {3, 4, 1, 1}, 7);
  const Integers pads(4, 1);
  builder.node("Conv", {"x", "w0"}, {"a"});
  builder.node("Tanh", {"a"}, {"f0"});
  builder.node("Conv", {"f0", "w1"}, {"f1"}, {{"pads", pads}});
  builder.node("Concat", {"f0", "f1"}, {"j1"}, {{"axis", int64_t{1}}});
  builder.node("Conv", {"j1", "w2"}, {"f2"}, {{"pads", pads}});
  builder.node("Concat", {"f0", "f1", "f2"}, {"j2"}, {{"axis", int64_t{1}}});
  builder.node("Conv", {"j2", "w3"}, {"p"});
  builder.node("Conv", {"j2", "w4"}, {"q"});
  builder.node("Conv", {"p", "w5"}, {"m"}, {{"pads", pads}});
  builder.node("Concat", {"m", "q"}, {"j3"}, {{"axis", int64_t{1}}});
  builder.node("Conv", {"j3", "w6"}, {"y"});
  return builder.finish({"y"});
}

}  // namespace

std::vector<Network> networks_to_mutate() {
  std::vector<Network> networks = {transformer(), residual_images(), movements(),
                                   layers(),      norms(),           joined_images()};
  std::mt19937 random(7);
  for (int draw = 0; draw < 5; ++draw) {
    networks.push_back(network::random_network_as_drawn(random, 12, 8));
    networks.push_back(network::random_image_graph(random, 10));
  }
  for (int draw = 0; draw < 2; ++draw) networks.push_back(network::random_joined_graph(random, 6));
  return networks;
}

}  // namespace tunesmith::testing
