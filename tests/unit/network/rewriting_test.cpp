// Passes that rewrite computations must keep a network's results.
#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "random_network.h"
#include "tunesmith/network/evaluate.h"
#include "tunesmith/network/form_regions.h"

namespace tunesmith::network {
namespace {

using ::testing::ElementsAre;
using Tensors = std::vector<tunesmith::Tensor>;

Tensors inputs_of(const Network& network, std::mt19937& random) {
  Tensors inputs;
  for (const TensorIndex index : network.inputs) {
    const Tensor& tensor = network.tensors[static_cast<size_t>(index)];
    Shape shape;
    for (const Extent& extent : *tensor.shape) shape.push_back(std::get<int64_t>(extent));
    inputs.push_back(tunesmith::Tensor::zeros(*tensor.dtype, shape));
    for (int64_t i = 0; i < inputs.back().elements(); ++i)
      inputs.back().set(i, std::uniform_int_distribution<int>(-8, 8)(random) / 8.0);
  }
  return inputs;
}

/// The largest difference between the results of two networks.
double difference(const Network& a, const Network& b, unsigned seed) {
  std::mt19937 random(seed);
  const Tensors inputs = inputs_of(a, random);
  const Tensors left = evaluate(a, inputs), right = evaluate(b, inputs);
  EXPECT_EQ(left.size(), right.size());
  double largest = 0;
  for (size_t i = 0; i < left.size(); ++i) {
    EXPECT_EQ(left[i].shape, right[i].shape);
    for (int64_t j = 0; j < left[i].elements(); ++j)
      largest = std::max(
          largest, std::abs(left[i].get(j) - right[i].get(j)) / std::max(1.0, std::abs(left[i].get(j))));
  }
  return largest;
}

/// Three products of one tensor, as in attention; `after`: the operators after each bias.
Network projections(const std::vector<std::string>& after) {
  Builder builder;
  builder.input("x", kF32, {int64_t{3}, int64_t{4}});
  std::vector<std::string> results;
  for (size_t i = 0; i < after.size(); ++i) {
    const std::string number = std::to_string(i);
    const auto columns = static_cast<int64_t>(2 + i);
    std::vector<double> weights, bias;
    for (int64_t j = 0; j < 4 * columns; ++j)
      weights.push_back(static_cast<double>((j * 5 + columns) % 9 - 4) / 8);
    for (int64_t j = 0; j < columns; ++j) bias.push_back(static_cast<double>(j + columns));
    builder.numbers("w" + number, {4, columns}, weights);
    builder.numbers("b" + number, {columns}, bias);
    builder.node("MatMul", {"x", "w" + number}, {"p" + number});
    builder.node("Add", {"p" + number, "b" + number}, {"a" + number});
    builder.node(after[i], {"a" + number}, {"y" + number});
    results.push_back("y" + number);
  }
  return builder.finish(results);
}

TEST(MergeProducts, TakesTheNodesAfterThemThatAreAlike) {
  const Network before = typed(projections({"Tanh", "Tanh", "Tanh"}));
  const Network after = resolved(before);
  EXPECT_THAT(operators_of(after),
              ElementsAre("MatMul", "Add", "Tanh", "tunesmith.Slice", "tunesmith.Slice", "tunesmith.Slice"));
  EXPECT_LT(difference(before, after, 1), 1e-12);
}

/// One group's products read a product of another group.
TEST(MergeProducts, MergesSeveralGroupsOfWhichOneReadsTheOther) {
  Builder builder;
  builder.input("x", kF32, {int64_t{3}, int64_t{4}});
  for (const char* name : {"a", "b", "c", "d"}) {
    std::vector<double> numbers = weights(16, 7 + 2 * (name[0] - 'a'));
    builder.numbers(name, {4, 4}, numbers);
  }
  builder.node("MatMul", {"x", "a"}, {"xa"});
  builder.node("MatMul", {"x", "b"}, {"xb"});
  builder.node("MatMul", {"xa", "c"}, {"xac"});
  builder.node("MatMul", {"xa", "d"}, {"xad"});
  const Network before = typed(builder.finish({"xb", "xac", "xad"}));
  const Network after = resolved(before);
  EXPECT_EQ(std::ranges::count(operators_of(after), "MatMul"), 2);
  EXPECT_LT(difference(before, after, 5), 1e-12);
}

TEST(MergeProducts, LeavesProductsWhoseKernelsDidMore) {
  // These are three kernels. The merged product and three more would be four.
  const Network network = resolved(projections({"Tanh", "Sigmoid", "Relu"}));
  EXPECT_THAT(operators_of(network),
              ElementsAre("MatMul", "Add", "Tanh", "MatMul", "Add", "Sigmoid", "MatMul", "Add", "Relu"));
}

TEST(MergeProducts, JoinsConvolutionsAlongTheirChannels) {
  Builder builder;
  builder.input("x", kF32, {int64_t{1}, int64_t{2}, int64_t{5}, int64_t{5}});
  for (const int64_t channels : {3, 4}) {
    std::vector<double> weights;
    for (int64_t i = 0; i < channels * 2 * 9; ++i) weights.push_back(static_cast<double>(i % 13 - 6) / 8);
    const std::string number = std::to_string(channels);
    builder.numbers("w" + number, {channels, 2, 3, 3}, weights);
    builder.numbers("b" + number, {channels},
                    std::vector<double>(static_cast<size_t>(channels), static_cast<double>(channels)));
    builder.node("Conv", {"x", "w" + number, "b" + number}, {"c" + number},
                 {{"pads", std::vector<int64_t>(4, 1)}});
    builder.node("Sigmoid", {"c" + number}, {"s" + number});
    builder.node("Mul", {"c" + number, "s" + number}, {"y" + number});
  }
  const Network before = typed(builder.finish({"y3", "y4"}));
  const Network after = resolved(before);
  EXPECT_THAT(operators_of(after),
              ElementsAre("Conv", "Sigmoid", "Mul", "tunesmith.Slice", "tunesmith.Slice"));
  EXPECT_LT(difference(before, after, 2), 1e-12);
}

TEST(MergeProducts, LeavesConvolutionsOfOtherStridesAndGroups) {
  Builder builder;
  builder.input("x", kF32, {int64_t{1}, int64_t{4}, int64_t{6}, int64_t{6}});
  builder.numbers("w", {4, 4, 1, 1}, std::vector<double>(16, 0.5));
  builder.numbers("v", {4, 4, 1, 1}, std::vector<double>(16, 0.25));
  builder.numbers("g", {4, 2, 1, 1}, std::vector<double>(8, 0.5));
  builder.numbers("h", {4, 2, 1, 1}, std::vector<double>(8, 0.25));
  builder.node("Conv", {"x", "w"}, {"a"});
  builder.node("Conv", {"x", "v"}, {"b"}, {{"strides", std::vector<int64_t>{2, 2}}});
  builder.node("Conv", {"x", "g"}, {"c"}, {{"group", int64_t{2}}});
  builder.node("Conv", {"x", "h"}, {"d"}, {{"group", int64_t{2}}});
  EXPECT_THAT(operators_of(resolved(builder.finish({"a", "b", "c", "d"}))),
              ElementsAre("Conv", "Conv", "Conv", "Conv"));
}

/// Attention whose operands are scaled, as PyTorch exports it.
Network scaled_attention(DType dtype, const std::string& op, const Shape& scale) {
  Builder builder;
  for (const char* name : {"q", "k", "v"}) builder.input(name, dtype, {int64_t{2}, int64_t{4}, int64_t{3}});
  builder.numbers("scale", scale, {0.75}, dtype);
  builder.node("Transpose", {"k"}, {"kt"}, {{"perm", std::vector<int64_t>{0, 2, 1}}});
  builder.node(op, {"q", "scale"}, {"qs"});
  builder.node(op, {"kt", "scale"}, {"ks"});
  builder.node("MatMul", {"qs", "ks"}, {"s"});
  builder.node("Softmax", {"s"}, {"p"});
  builder.node("MatMul", {"p", "v"}, {"o"});
  return builder.finish({"o"});
}

TEST(MoveScales, MultipliesTheResultOfAProductOfData) {
  for (const char* op : {"Mul", "Div"}) {
    const Network before = typed(scaled_attention(kF32, op, {}));
    const Network after = resolved(before);
    EXPECT_THAT(operators_of(after), ElementsAre("Transpose", "MatMul", op, op, "Softmax", "MatMul"));
    EXPECT_LT(difference(before, after, 3), 1e-12);
  }
}

TEST(MoveScales, LeavesSumsThatCouldOverflow) {
  EXPECT_THAT(operators_of(resolved(scaled_attention(kF16, "Mul", {}))),
              ElementsAre("Transpose", "Mul", "Mul", "MatMul", "Softmax", "MatMul"));
}

TEST(MoveScales, LeavesIntegersWhichLeaveARemainder) {
  Builder builder;
  builder.input("x", kI32, {int64_t{2}, int64_t{2}});
  builder.input("y", kI32, {int64_t{2}, int64_t{2}});
  builder.numbers("three", {}, {3}, kI32);
  builder.node("Div", {"x", "three"}, {"a"});
  builder.node("MatMul", {"a", "y"}, {"b"});
  EXPECT_THAT(operators_of(resolved(builder.finish({"b"}))), ElementsAre("Div", "MatMul"));
}

TEST(MoveScales, LeavesWhatIsConvertedBeforeTheProduct) {
  Builder builder;
  builder.input("x", kF64, {int64_t{2}, int64_t{2}});
  builder.input("y", kF32, {int64_t{2}, int64_t{2}});
  builder.numbers("half", {}, {0.5}, kF64);
  builder.node("Mul", {"x", "half"}, {"a"});
  builder.node("Cast", {"a"}, {"b"}, {{"to", int64_t{1}}});
  builder.node("MatMul", {"b", "y"}, {"c"});
  EXPECT_THAT(operators_of(resolved(builder.finish({"c"}))), ElementsAre("Mul", "Cast", "MatMul"));
}

TEST(NodesOfSeveralOutputs, MayLeaveOutTheFirst) {
  Builder builder;
  builder.input("x", kF32, {int64_t{2}, int64_t{6}});
  builder.numbers("scale", {6}, {1, 2, 3, 4, 5, 6});
  builder.node("LayerNormalization", {"x", "scale"}, {"unread", "mean"});
  const Network before = typed(builder.finish({"mean"}));
  const Network after = resolved(before);
  EXPECT_EQ(after.nodes.front().outputs.front(), kAbsent);
  EXPECT_LT(difference(before, after, 4), 1e-12);
}

/// A product with scaled keys that a Concat or Pad (`op`) has extended.
Network product_of_widened(const std::string& op, const std::vector<std::string>& inputs,
                           const std::map<std::string, Attribute>& attributes = {}) {
  Builder builder;
  builder.input("q", kF32, {int64_t{4}, int64_t{3}});
  builder.input("k", kF32, {int64_t{2}, int64_t{3}});
  builder.numbers("scale", {}, {0.125});
  builder.numbers("memory", {2, 3}, {1, 2, 3, 4, 5, 6});
  builder.integers("pads", {0, 0, 2, 0});
  builder.numbers("one", {}, {1});
  builder.node("Mul", {"k", "scale"}, {"ks"});
  builder.node(op, inputs, {"w"}, attributes);
  builder.node("Transpose", {"w"}, {"wt"}, {{"perm", std::vector<int64_t>{1, 0}}});
  builder.node("MatMul", {"q", "wt"}, {"o"});
  return builder.finish({"o"});
}

TEST(MoveScales, LeavesWhatLiesBesideNumbersThatAreNotScaled) {
  for (const Network& before : {typed(product_of_widened("Concat", {"ks", "memory"}, {{"axis", int64_t{0}}})),
                                typed(product_of_widened("Pad", {"ks", "pads", "one"}))}) {
    const Network after = resolved(before);
    EXPECT_EQ(operators_of(after).front(), "Mul");
    EXPECT_LT(difference(before, after, 1), 1e-12);
  }
  const Network zeros = typed(product_of_widened("Pad", {"ks", "pads"}));
  const Network after = resolved(zeros);
  EXPECT_EQ(operators_of(after).back(), "Mul") << "zeros are as they were";
  EXPECT_LT(difference(zeros, after, 1), 1e-12);
}

TEST(MoveScales, LeavesWhatOthersReadAndWhatIsNoNumber) {
  Builder builder;
  builder.input("x", kF32, {int64_t{2}, int64_t{2}});
  builder.input("y", kF32, {int64_t{2}, int64_t{2}});
  builder.input("one", kF32, {int64_t{1}});
  builder.numbers("row", {2}, {1, 2});
  builder.numbers("half", {}, {0.5});
  builder.node("Mul", {"x", "half"}, {"a"});  // also a result
  builder.node("Mul", {"y", "row"}, {"b"});
  builder.node("MatMul", {"a", "b"}, {"c"});
  builder.node("Mul", {"y", "one"}, {"d"});  // known only at run time
  builder.node("Div", {"half", "x"}, {"e"});
  builder.node("MatMul", {"d", "e"}, {"f"});
  const Network network = builder.finish({"a", "c", "f"});
  EXPECT_EQ(operators_of(resolved(network)), operators_of(network));
}

TEST(Share, NodesWithOtherAttributesAreOthers) {
  Builder builder;
  builder.input("x", kF32, {int64_t{2}, int64_t{2}});
  builder.node("Softmax", {"x"}, {"a"}, {{"axis", int64_t{0}}});
  builder.node("Softmax", {"x"}, {"b"}, {{"axis", int64_t{1}}});
  builder.node("Sub", {"a", "b"}, {"c"});
  EXPECT_THAT(operators_of(resolved(builder.finish({"c"}))), ElementsAre("Softmax", "Softmax", "Sub"));
}

TEST(Share, ComputesEqualNodesOnceButEachResult) {
  Builder builder;
  builder.input("x", kF32, {int64_t{2}, int64_t{2}});
  builder.numbers("one", {2}, {1, 2});
  builder.numbers("same", {2}, {1, 2});
  builder.numbers("other", {2}, {1, 3});
  builder.node("Add", {"x", "one"}, {"a"});
  builder.node("Add", {"x", "same"}, {"b"});
  builder.node("Add", {"x", "other"}, {"c"});
  builder.node("Tanh", {"b"}, {"d"});
  builder.node("Tanh", {"a"}, {"e"});
  builder.node("Mul", {"d", "e"}, {"f"});
  builder.node("Mul", {"d", "c"}, {"g"});
  builder.node("Mul", {"e", "c"}, {"h"});
  const Network before = typed(builder.finish({"f", "g", "h"}));
  const Network after = resolved(before);
  EXPECT_THAT(operators_of(after), ElementsAre("Add", "Add", "Tanh", "Mul", "Mul", "Mul"));
  EXPECT_EQ(difference(before, after, 4), 0);
}

TEST(Rewriting, RandomNetworksGiveTheSameAfterAllPasses) {
  std::mt19937 random(29);
  size_t merged = 0, moved = 0, shared = 0;
  for (unsigned draw = 0; draw < 300; ++draw) {
    const Network before = typed(random_network_as_drawn(random, 16, 3));
    const Network after = resolved(before);
    EXPECT_LT(difference(before, after, draw), 1e-9) << "draw " << draw << "\n"
                                                     << to_text(before) << to_text(after);
    for (const Tensor& tensor : after.tensors) {
      merged += tensor.name.ends_with("/merged") ? 1 : 0;
      moved += tensor.name.ends_with("/unscaled") ? 1 : 0;
    }
    shared += after.nodes.size() < before.nodes.size() ? 1 : 0;
  }
  EXPECT_GT(merged, 5U);
  EXPECT_GT(moved, 5U);
  EXPECT_GT(shared, 5U);
}

}  // namespace
}  // namespace tunesmith::network
