// Networks of quantized tensors compute with integers.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "interpreted_library.h"
#include "quantized_network.h"
#include "tunesmith/network/evaluate.h"
#include "tunesmith/network/form_regions.h"
#include "tunesmith/network/node_workload.h"
#include "tunesmith/network/plain_kernels.h"
#include "tunesmith/network/products_in_floats.h"
#include "tunesmith/network/verify_in_place.h"

namespace tunesmith::network {
namespace {

using ::testing::Contains;
using ::testing::Not;

/// A convolution between two tensors of bytes.
struct Convolution {
  DType x = kU8, w = kI8;
  bool per_channel = true, has_zero = false, has_bias = true;
  int64_t groups = 1;
};

Network convolution(const Convolution& how, unsigned seed) {
  Quantizing builder(seed);
  builder.input("x", kF32, Extents{int64_t{1}, int64_t{4}, int64_t{4}, int64_t{4}});
  const std::string x = builder.to_bytes("x", how.x);
  const std::string w =
      builder.weights("w", {4, 4 / how.groups, 3, 3}, how.w, how.per_channel ? 4 : 0, 0, how.has_zero);
  std::vector<std::string> inputs{x, w};
  if (how.has_bias) inputs.push_back(builder.bias("b", 4, "x_q", "w"));
  builder.node("Conv", inputs, {"c"}, {{"pads", std::vector<int64_t>{1, 1, 1, 1}}, {"group", how.groups}});
  builder.node("Relu", {"c"}, {"r"});
  return builder.finish({builder.to_bytes("r", how.x)});
}

TEST(MultiplyIntegers, ConvolvesBytesOfAnyTypeScaleAndZeroPoint) {
  unsigned seed = 0;
  std::mt19937 random(1);
  for (const DType x : {kU8, kI8})
    for (const DType w : {kU8, kI8})
      for (const int bits : {0, 7, 9, 14}) {
        const Convolution how{
            x, w, (bits & 1) != 0, (bits & 2) != 0, (bits & 4) != 0, (bits & 8) != 0 ? 2 : 1};
        const Network network = convolution(how, ++seed);
        const std::vector<std::string> operators = operators_of(resolved(network));
        EXPECT_THAT(operators, Contains("ConvInteger"));
        EXPECT_THAT(operators, Not(Contains("Conv")));
        EXPECT_LT(difference(network, random), 1e-6) << bits;
      }
}

TEST(MultiplyIntegers, MultipliesMatricesOfWeightsAndOfData) {
  unsigned seed = 0;
  std::mt19937 random(2);
  for (const std::string op : {"MatMul", "Gemm", "transposed", "data"})
    for (const DType dtype : {kU8, kI8})
      for (const int bits : {0, 3, 6}) {
        Quantizing builder(++seed);
        builder.input("x", kF32, Extents{int64_t{3}, int64_t{8}});
        builder.input("y", kF32, Extents{int64_t{8}, int64_t{5}});
        const bool is_gemm = op == "Gemm" || op == "transposed", transposed = op == "transposed";
        const std::string x = builder.to_bytes("x", dtype);
        const std::string w =
            op == "data" ? builder.to_bytes("y", dtype)
                         : builder.weights("w", transposed ? Shape{5, 8} : Shape{8, 5}, dtype,
                                           (bits & 1) != 0 ? 5 : 0, transposed ? 0 : 1, (bits & 2) != 0);
        std::vector<std::string> inputs{x, w};
        if (is_gemm && (bits & 4) != 0) inputs.push_back(builder.bias("b", 5, "x_q", "w"));
        std::map<std::string, Attribute> attributes;
        if (is_gemm) attributes["transB"] = int64_t{transposed ? 1 : 0};
        builder.node(is_gemm ? "Gemm" : "MatMul", inputs, {"p"}, attributes);
        const Network network = builder.finish({builder.to_bytes("p", dtype), "p"});
        EXPECT_THAT(operators_of(resolved(network)), Contains("MatMulInteger"));
        EXPECT_LT(difference(network, random), 1e-6) << op << bits;
      }
}

/// (1 - 100) * 0.5 * 3 * 0.25 and so on.
TEST(MultiplyIntegers, IsWhatIsComputedByHand) {
  Builder builder;
  builder.input("x", kU8, Extents{int64_t{1}, int64_t{2}});
  builder.numbers("half", {}, {0.5});
  builder.numbers("hundred", {}, {100}, kU8);
  builder.node("DequantizeLinear", {"x", "half", "hundred"}, {"xd"});
  builder.numbers("w", {2, 2}, {3, -5, 7, 11}, kI8);
  builder.numbers("scales", {2}, {0.25, 2});
  builder.node("DequantizeLinear", {"w", "scales"}, {"wd"}, {{"axis", int64_t{1}}});
  builder.numbers("b", {2}, {1, 0.3});
  builder.node("Gemm", {"xd", "wd", "b"}, {"y"});
  const Network network = resolved(builder.finish({"y"}));
  EXPECT_THAT(operators_of(network), Contains("MatMulInteger"));
  tunesmith::Tensor x = tunesmith::Tensor::zeros(kU8, {1, 2});
  x.set(0, 1);
  x.set(1, 200);
  const tunesmith::Tensor y = evaluate(network, std::vector{x}).at(0);
  EXPECT_NEAR(y.get(0), -49.5 * 0.75 + 50 * 1.75 + 1, 1e-6);
  EXPECT_NEAR(y.get(1), -49.5 * -10 + 50 * 22 + 0.3, 1e-4);
}

TEST(MultiplyIntegers, AddsABiasThatTheSumLeavesNoRoomForInFloats) {
  constexpr int64_t kTerms = 60'000;
  Builder builder;
  builder.input("x", kU8, Extents{int64_t{1}, kTerms});
  builder.numbers("one", {}, {1});
  builder.node("DequantizeLinear", {"x", "one"}, {"xd"});
  builder.numbers("w", {kTerms, 1}, std::vector<double>(kTerms, 127), kI8);
  builder.node("DequantizeLinear", {"w", "one"}, {"wd"});
  builder.numbers("b", {1}, {1e9});
  builder.node("Gemm", {"xd", "wd", "b"}, {"y"});
  const Network network = resolved(builder.finish({"y"}));
  EXPECT_THAT(operators_of(network), Contains("MatMulInteger"));
  tunesmith::Tensor x = tunesmith::Tensor::zeros(kU8, {1, kTerms});
  for (int64_t i = 0; i < kTerms; ++i) x.set(i, 255);
  EXPECT_NEAR(evaluate(network, std::vector{x}).at(0).get(0), 255.0 * 127 * kTerms + 1e9, 1e3);
}

/// A product of a tensor of bytes and weights. `axis_of_x` < 0: x has a single scale.
Network product(int64_t terms, std::map<std::string, Attribute> attributes, int64_t axis_of_x) {
  Quantizing builder(5);
  builder.input("x", kU8, Extents{int64_t{2}, terms});
  builder.numbers("s", axis_of_x < 0 ? Shape{} : Shape{2}, std::vector<double>(axis_of_x < 0 ? 1 : 2, 0.5));
  builder.node("DequantizeLinear", {"x", "s"}, {"xd"}, {{"axis", std::max<int64_t>(axis_of_x, 0)}});
  const std::string w = builder.weights("w", {terms, 3}, kI8, 3, 1, false);
  builder.node("Gemm", {"xd", w}, {"y"}, std::move(attributes));
  return builder.finish({"y"});
}

TEST(MultiplyIntegers, LeavesWhatItCannotSay) {
  EXPECT_THAT(operators_of(resolved(product(8, {}, -1))), Contains("MatMulInteger"));
  EXPECT_THAT(operators_of(resolved(product(8, {{"alpha", 2.0}}, -1))), Contains("Gemm"));
  // Rows of different scales; sums that an i32 may not hold.
  EXPECT_THAT(operators_of(resolved(product(8, {}, 0))), Contains("Gemm"));
  EXPECT_THAT(operators_of(resolved(product(70'000, {}, -1))), Contains("Gemm"));
}

TEST(MultiplyIntegers, SaysWhatStaysInFloats) {
  const PassOptions options{operators_onnx::find_operator, {}};
  const auto lines = [&](Network network) {
    for (const Pass& pass : passes().first(4)) pass.run(network, options);
    return products_in_floats(network, options);
  };
  EXPECT_THAT(lines(product(8, {}, -1)), testing::IsEmpty());
  EXPECT_THAT(lines(product(8, {}, 0)),
              testing::ElementsAre(
                  "node 'node2' (Gemm@17) computes in floats: its first operand has several scales"));
  EXPECT_THAT(lines(product(70'000, {}, -1)), testing::ElementsAre(testing::HasSubstr("may overflow i32")));
}

/// Convolution, pooling, convolution, a residual, and views before a product.
Network residual_network(int64_t axis_of_scales = 0) {
  Quantizing builder(7);
  builder.input("x", kF32, Extents{int64_t{1}, int64_t{4}, int64_t{8}, int64_t{8}});
  const std::string x = builder.to_bytes("x", kU8);
  builder.node("Conv", {x, builder.weights("w1", {4, 4, 3, 3}, kI8, 4, axis_of_scales, false)}, {"a"},
               {{"pads", std::vector<int64_t>{1, 1, 1, 1}}});
  builder.numbers("a_q_s", {}, {4.7});
  builder.numbers("a_q_z", {}, {3}, kU8);
  builder.node("QuantizeLinear", {"a", "a_q_s", "a_q_z"}, {"a_q"});
  builder.node("DequantizeLinear", {"a_q", "a_q_s", "a_q_z"}, {"a_d"});
  builder.node("MaxPool", {"a_d"}, {"p"},
               {{"kernel_shape", std::vector<int64_t>{2, 2}}, {"strides", std::vector<int64_t>{2, 2}}});
  builder.node("QuantizeLinear", {"p", "a_q_s", "a_q_z"}, {"p_q"});
  builder.node("DequantizeLinear", {"p_q", "a_q_s", "a_q_z"}, {"p_d"});
  builder.node("Conv", {"p_d", builder.weights("w2", {4, 4, 1, 1}, kI8, 4, axis_of_scales, false)}, {"c"});
  builder.node("Add", {builder.to_bytes("c", kU8, 61.3), "p_d"}, {"e"});
  const std::string e = builder.to_bytes("e", kU8, 77.1);
  builder.integers("flat", {1, 64});
  builder.node("Reshape", {e, "flat"}, {"f"});
  builder.node("MatMul", {"f", builder.weights("w3", {64, 6}, kI8, 6, 1, false)}, {"y"});
  return builder.finish({"y"});
}

TEST(MultiplyIntegers, NoFloatsLieBetweenIntegerLayers) {
  std::mt19937 random(3);
  const Network network = resolved(residual_network());
  EXPECT_THAT(operators_of(network), Not(Contains("Conv")));
  EXPECT_THAT(operators_of(network), Not(Contains("MatMul")));
  size_t regions = 0;
  for (const Region& region : form_regions(network)) {
    ++regions;
    for (const TensorIndex result : region.results)
      EXPECT_TRUE(result == network.outputs[0] || network.tensors[static_cast<size_t>(result)].dtype == kU8)
          << network.tensors[static_cast<size_t>(result)].name;
  }
  EXPECT_EQ(regions, 5u) << "x; convolution; pooling; convolution with its residual; product";
  EXPECT_LT(difference(residual_network(), random), 1e-6);
}

TEST(MultiplyIntegers, AddsAKnownZeroPointAndTheBiasAtOnce) {
  std::mt19937 random(11);
  for (const bool padded : {false, true}) {
    Quantizing builder(12);
    builder.input("x", kF32, Extents{int64_t{1}, int64_t{4}, int64_t{4}, int64_t{4}});
    const std::string x = builder.to_bytes("x", kU8);
    const std::string w = builder.weights("w", {5, 4, 3, 3}, kI8, 5, 0, false);
    builder.node("Conv", {x, w, builder.bias("b", 5, "x_q", "w")}, {"c"},
                 {{"pads", std::vector<int64_t>(4, padded ? 1 : 0)}});
    const Network before = builder.finish({builder.to_bytes("c", kU8, 3.0)}), network = resolved(before);
    const Node& convolution = *nodes_of(network, "ConvInteger").at(0);
    const bool has_zero_point = convolution.inputs.size() > 2 && convolution.inputs[2] != kAbsent;
    EXPECT_EQ(has_zero_point, padded) << "the padding is the zero point";
    EXPECT_LT(difference(before, random), 1e-6);
  }
}

/// Weights whose sums have many bits lose none: a part of the sum wraps around, the whole does not.
TEST(MultiplyIntegers, WrapsAroundWithinASumThatFits) {
  constexpr int64_t kTerms = 66'000;
  Builder builder;
  builder.input("x", kU8, Extents{int64_t{1}, kTerms});
  builder.numbers("one", {}, {1});
  builder.numbers("zero", {}, {127}, kU8);
  builder.node("DequantizeLinear", {"x", "one", "zero"}, {"xd"});
  builder.numbers("w", {kTerms, 1}, std::vector<double>(kTerms, -128), kI8);
  builder.node("DequantizeLinear", {"w", "one"}, {"wd"});
  builder.node("MatMul", {"xd", "wd"}, {"y"});
  const Network network = resolved(builder.finish({"y"}));
  tunesmith::Tensor x = tunesmith::Tensor::zeros(kU8, {1, kTerms});
  for (int64_t i = 0; i < kTerms; ++i) x.set(i, 255);
  EXPECT_EQ(evaluate(network, std::vector{x}).at(0).get(0), static_cast<float>(-128.0 * 128 * kTerms));
}

TEST(MoveDequantization, LeavesWhatIsPutBesideTheBytes) {
  std::mt19937 random(4);
  Quantizing builder(8);
  builder.input("x", kF32, Extents{int64_t{2}, int64_t{3}});
  const std::string x = builder.to_bytes("x", kU8);
  builder.integers("pads", {0, 1, 0, 1});
  builder.node("Pad", {x, "pads"}, {"p"});
  builder.node("Transpose", {x}, {"t"});
  builder.node("Concat", {x, x}, {"c"}, {{"axis", int64_t{1}}});
  const Network network = builder.finish({"p", "t", "c"});
  EXPECT_EQ(difference(network, random), 0);
  for (const Node& node : resolved(network).nodes) {
    if (node.op == "QuantizeLinear" || node.op == "DequantizeLinear") continue;
    const DType read = *resolved(network).tensors[static_cast<size_t>(node.inputs[0])].dtype;
    EXPECT_EQ(read, node.op == "Pad" ? kF32 : kU8) << node.op;
  }
}

/// Two convolutions whose results lie side by side in bytes of another scale, as shuffled networks have it.
Network joined_network(bool read_twice) {
  Quantizing builder(9);
  builder.input("x", kF32, Extents{int64_t{1}, int64_t{4}, int64_t{4}, int64_t{4}});
  const std::string x = builder.to_bytes("x", kU8);
  for (const std::string part : {"a", "b"}) {
    builder.node("Conv", {x, builder.weights("w" + part, {4, 4, 1, 1}, kI8, 4, 0, false)}, {part});
    builder.node("Relu", {part}, {part + "r"});
  }
  builder.node("Concat", {builder.to_bytes("ar", kU8, 4.0), "br"}, {"c"}, {{"axis", int64_t{1}}});
  const std::string c = builder.to_bytes("c", kU8, 8.0);
  builder.node("Conv", {c, builder.weights("w", {4, 8, 1, 1}, kI8, 4, 0, false)}, {"y"});
  std::vector<std::string> results{builder.to_bytes("y", kU8, 90.0)};
  if (read_twice) results.emplace_back("c");
  return builder.finish(results);
}

TEST(MoveDequantization, BytesOfAConcatenationAreMadeOfItsOperands) {
  std::mt19937 random(10);
  EXPECT_LT(difference(joined_network(false), random), 1e-6);
  for (const bool read_twice : {false, true}) {
    const Network network = resolved(joined_network(read_twice));
    const Node& node = *std::ranges::find(network.nodes, "Concat", &Node::op);
    EXPECT_EQ(*network.tensors[static_cast<size_t>(node.outputs[0])].dtype, read_twice ? kF32 : kU8);
  }
  const Network network = resolved(joined_network(false));
  for (const Region& region : form_regions(network))
    for (const TensorIndex result : region.results)
      EXPECT_TRUE(result == network.outputs[0] || network.tensors[static_cast<size_t>(result)].dtype == kU8)
          << network.tensors[static_cast<size_t>(result)].name;
}

/// What the network computes where its node of this operator is another.
bool is_verified(const std::string& op, const std::function<void(Network&, Node&)>& change) {
  NoTarget target;
  const Network network = resolved(residual_network());
  Network other = network;
  change(other, *std::ranges::find(other.nodes, op, &Node::op));
  const std::vector<Region> formed = form_regions(network);
  const std::vector<NodeWorkload> regions = region_workloads(network, formed),
                                  others = region_workloads(other, formed);
  std::mt19937 random(6);
  InterpretedLibrary library(other, regions, others);
  return PlaceVerifier(network, regions, target).verify(library, drawn_inputs(network, random)).right();
}

TEST(MultiplyIntegers, WhatIsWrongIsFoundInPlace) {
  EXPECT_TRUE(is_verified("ConvInteger", [](Network&, Node&) {}));
  EXPECT_FALSE(is_verified("ConvInteger", [](Network&, Node& node) { node.inputs[2] = kAbsent; }))
      << "no correction";
  EXPECT_FALSE(is_verified("ConvInteger", [](Network& network, Node& node) {
    Tensor zero = network.tensors[static_cast<size_t>(node.inputs[2])];
    zero.name = "another zero";
    const auto owner = std::make_shared<tunesmith::Tensor>(to_tensor(*zero.constant));
    owner->set(0, owner->get(0) + 1);
    zero.constant = std::make_shared<Constant>(Constant{owner->dtype, owner->shape, owner->bytes, owner});
    node.inputs[2] = static_cast<TensorIndex>(network.tensors.size());
    network.tensors.push_back(std::move(zero));
  })) << "another zero point";
  EXPECT_FALSE(is_verified("ConvInteger", [](Network& network, Node&) {
    const auto node = std::ranges::find(network.nodes, "c/DequantizeLinear/scaled", &Node::name);
    ASSERT_NE(node, network.nodes.end());
    node->attributes["axis"] = int64_t{2};
  })) << "scales along another axis";
}

/// Integers of four bits are bytes to a product; bytes that are floats are decoded first.
TEST(NetworkIntegers, BytesKeepTheirCode) {
  for (const Code code : {Code::U4, Code::I4, Code::F8E4M3Fn}) {
    const DType dtype = code == Code::I4 ? kI8 : kU8;
    Quantizing builder(3);
    builder.input("x", kF32, Extents{int64_t{2}, int64_t{3}});
    const std::string x = builder.to_bytes("x", kU8);
    const int least = code == Code::F8E4M3Fn ? 50 : 0;
    builder.numbers("w", {4, 3}, drawn_integers(builder.random, 12, least, least + 7), dtype);
    builder.numbers("s", {}, {0.5});
    builder.numbers("zero of bytes", {}, {0}, dtype);
    builder.numbers("zero", {}, {0}, dtype);
    builder.node("DequantizeLinear", {"w", "s", "zero"}, {"w_d"});
    builder.node("Transpose", {"w_d"}, {"turned"}, {{"perm", std::vector<int64_t>{1, 0}}});
    builder.node("MatMul", {x, "turned"}, {"product"});
    builder.node("QuantizeLinear", {"product", "s", "zero of bytes"}, {"bytes"});
    builder.node("DequantizeLinear", {"bytes", "s", "zero of bytes"}, {"y"});
    builder.node("QuantizeLinear", {"y", "s", "zero"}, {"fewer"});
    builder.node("DequantizeLinear", {"fewer", "s", "zero"}, {"z"});
    Network network = builder.finish({"y", "z"});
    for (Tensor& tensor : network.tensors)
      if (tensor.name == "w" || tensor.name == "zero") tensor.code = code;
    EXPECT_LT(difference(network, builder.random), 1e-5) << static_cast<int>(code);
  }
}

}  // namespace
}  // namespace tunesmith::network
