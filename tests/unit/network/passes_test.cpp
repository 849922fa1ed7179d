#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <operators_onnx/find_operator.h>

#include "onnx_network.h"
#include "tunesmith/network/evaluate.h"
#include "tunesmith/network/node_workload.h"
#include "tunesmith/network/pass.h"

namespace tunesmith::network {
namespace {

PassOptions options(std::map<std::string, int64_t> dimensions = {}) {
  return {operators_onnx::find_operator, std::move(dimensions)};
}

std::string message_of(Network network, const PassOptions& with) {
  try {
    run_passes(network, with);
  } catch (const UserError& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(NetworkPasses, AreNamedAndSayWhatTheyDo) {
  std::vector<std::string> names;
  for (const Pass& pass : passes()) {
    names.emplace_back(pass.name);
    EXPECT_FALSE(pass.summary.empty());
  }
  EXPECT_THAT(names,
              testing::ElementsAre("resolve", "fix_shapes", "move_dequantization", "multiply_integers",
                                   "fold_constants", "drop_identities", "eliminate_common_subexpressions",
                                   "eliminate_dead_code", "move_scales", "merge_products", "copy_results",
                                   "choose_layouts", "join_in_place", "place_loops"));
  Builder made;
  made.input("X", kF32, {int64_t{2}});
  made.node("Relu", {"X"}, {"Y"});
  Network network = made.finish({"Y"});
  std::vector<std::string> seen;
  run_passes(network, options(), [&](const Pass& pass, const Network&) { seen.emplace_back(pass.name); });
  EXPECT_EQ(seen, names);
}

TEST(NetworkPasses, ResolveNamesAllUnknownOperatorsAtOnce) {
  Builder made;
  made.input("X", kF32, {int64_t{2}});
  made.node("Relu", {"X"}, {"A"});
  made.node("Nothing", {"A"}, {"B"});
  made.node("Nothing", {"B"}, {"C"});
  made.node("AlsoNothing", {"C"}, {"D"});
  EXPECT_THAT(message_of(made.finish({"D"}), options()),
              testing::AllOf(testing::HasSubstr("unsupported operator AlsoNothing@17: node 'node3'"),
                             testing::HasSubstr("Nothing@17: nodes 'node1', 'node2'")));
}

TEST(NetworkPasses, FixShapesGivesNamedExtentsTheirValues) {
  Builder made;
  made.input("X", kF32, {"batch", int64_t{4}});
  made.node("Relu", {"X"}, {"Y"});
  Network network = made.finish({"Y"});
  EXPECT_THAT(message_of(network, options()), testing::HasSubstr("--dim batch=1"));
  run_passes(network, options({{"batch", 3}}));
  EXPECT_EQ(network.tensors[static_cast<size_t>(network.outputs[0])].shape,
            (std::vector<Extent>{int64_t{3}, int64_t{4}}));
}

TEST(NetworkPasses, AnExtentThatComesOutOtherwiseIsRefused) {
  Builder made;
  made.input("past", kF32, {"past", int64_t{2}});
  made.input("new", kF32, {int64_t{1}, int64_t{2}});
  made.node("Concat", {"past", "new"}, {"Y"}, {{"axis", int64_t{0}}});
  made.node("Relu", {"past"}, {"Z"});
  Network network = made.finish({"Y", "Z"});
  const auto name_results = [&](const std::string& of_y, const std::string& of_z) {
    network.tensors[static_cast<size_t>(network.outputs[0])].shape = {of_y, int64_t{2}};
    network.tensors[static_cast<size_t>(network.outputs[1])].shape = {of_z, int64_t{2}};
  };
  name_results("total", "past");
  const std::string message = message_of(network, options({{"past", 12}, {"total", 20}}));
  EXPECT_THAT(message, testing::HasSubstr("'total' is declared 20 but computed as 13"));
  EXPECT_THAT(message, testing::HasSubstr("--dim total=13"));
  EXPECT_EQ(message_of(network, options({{"past", 12}, {"total", 13}})), "nothing was refused");
  // A name that fits no value is ignored.
  name_results("past", "past");
  EXPECT_EQ(message_of(network, options({{"past", 12}})), "nothing was refused");
}

TEST(NetworkPasses, ShapeArithmeticIsEvaluated) {
  // Reshape(X, Concat(Shape(X)[0:1], -1)), as exporters write a flatten.
  Builder made;
  made.input("X", kF32, {"batch", int64_t{2}, int64_t{3}});
  made.integers("zero", {0});
  made.integers("one", {1});
  made.integers("rest", {-1});
  made.node("Shape", {"X"}, {"shape"});
  made.node("Slice", {"shape", "zero", "one"}, {"first"});
  made.node("Concat", {"first", "rest"}, {"to"}, {{"axis", int64_t{0}}});
  made.node("Reshape", {"X", "to"}, {"Y"});
  Network network = made.finish({"Y"});
  run_passes(network, options({{"batch", 5}}));
  ASSERT_EQ(network.nodes.size(), 1U);
  EXPECT_EQ(network.nodes[0].op, "Reshape");
  EXPECT_EQ(network.tensors[static_cast<size_t>(network.outputs[0])].shape,
            (std::vector<Extent>{int64_t{5}, int64_t{6}}));
}

TEST(NetworkPasses, RefusalsNameNodeAndCauseOfAll) {
  Builder made;
  made.input("X", kF32, {int64_t{2}});
  made.input("B", kBool, {int64_t{2}});
  made.node("Exp", {"B"}, {"A"});
  made.node("Relu", {"A"}, {"C"});
  made.node("Elu", {"X"}, {"D"}, {{"beta", 1.0}});
  const std::string message = message_of(made.finish({"C", "D"}), options());
  EXPECT_THAT(message, testing::HasSubstr("node 'node0' (Exp@17): an input of type bool is not taken"));
  EXPECT_THAT(message, testing::HasSubstr("node 'node2' (Elu@17): attribute 'beta' is not known"));
  EXPECT_THAT(message, testing::HasSubstr("1 nodes depend on them"));
}

TEST(NetworkPasses, AShapeThatTheFileSaysOtherwiseIsRefused) {
  Builder made;
  made.input("X", kF32, {int64_t{2}});
  made.node("Relu", {"X"}, {"Y"});
  Network network = made.finish({"Y"});
  network.tensors[static_cast<size_t>(network.outputs[0])].shape = std::vector<Extent>{int64_t{3}};
  EXPECT_THAT(message_of(network, options()),
              testing::HasSubstr("its output 'Y' has shape [2], the file declares [3]"));
}

TEST(NetworkPasses, ValuesThatACallGivesAreAskedForByTensor) {
  Builder made;
  made.input("X", kF32, {int64_t{2}});
  made.input("shape", kI64, {int64_t{2}});
  made.node("Reshape", {"X", "shape"}, {"Y"});
  Network network = made.finish({"Y"});
  try {
    run_passes(network, options());
    FAIL() << "nothing was refused";
  } catch (const UnknownValues& unknown) {
    EXPECT_EQ(unknown.tensor(), network.inputs[1]);
  }
}

TEST(NetworkPasses, ConstantsAreFolded) {
  Builder made;
  made.input("X", kF32, {int64_t{2}});
  made.numbers("A", {8192}, std::vector<double>(8192, 0.5));
  made.node("ReduceSum", {"A"}, {"sum"}, {{"keepdims", int64_t{0}}});
  made.node("Mul", {"X", "sum"}, {"Y"});
  Network network = made.finish({"Y"});
  run_passes(network, options());
  ASSERT_EQ(network.nodes.size(), 1U);
  const auto& folded = network.tensors[static_cast<size_t>(network.nodes[0].inputs[1])].constant;
  ASSERT_TRUE(folded);
  EXPECT_EQ(*reinterpret_cast<const float*>(folded->bytes.data()), 4096.0F);
}

TEST(NetworkPasses, WhatNothingReadsIsDropped) {
  Builder made;
  made.input("X", kF32, {int64_t{2}, int64_t{6}});
  made.node("Relu", {"X"}, {"A"});
  made.node("Tanh", {"A"}, {"B"});
  made.node("Sigmoid", {"B"}, {"C"});
  made.node("Split", {"A", "sizes"}, {"D", "E"}, {{"axis", int64_t{1}}});
  made.integers("sizes", {2, 4});
  Network network = made.finish({"E"});
  run_passes(network, options());
  EXPECT_EQ(to_text(network),
            "network built\ninput X: f32[2, 6]\nconstant sizes: i64[2] #8576369844afdb7e\n"
            "node0: A: f32[2, 6] = Relu@17(X)\nnode3: -, E: f32[2, 4] = "
            "Split@17(A, sizes) {axis = 1}\n"
            "output E: f32[2, 4]\n");
}

TEST(NetworkPasses, ImagesBetweenNodesLieWithTheirChannelsLast) {
  Builder made;
  made.input("X", kF32, {int64_t{1}, int64_t{2}, int64_t{5}, int64_t{5}});
  made.numbers("W", {2, 2, 1, 1}, {1, 2, 3, 4});
  made.node("Conv", {"X", "W"}, {"A"});
  made.node("Relu", {"A"}, {"B"});
  made.node("Add", {"A", "B"}, {"C"});
  made.node("ReduceMean", {"C"}, {"D"}, {{"axes", std::vector<int64_t>{2, 3}}, {"keepdims", int64_t{0}}});
  made.node("Conv", {"C", "W"}, {"Y"});
  Network network = made.finish({"D", "Y"});
  run_passes(network, options());
  std::vector<std::string> turned;
  for (const Tensor& tensor : network.tensors) {
    if (tensor.order.empty()) continue;
    EXPECT_THAT(tensor.order, testing::ElementsAre(0, 2, 3, 1));
    turned.push_back(tensor.name);
  }
  EXPECT_THAT(turned, testing::ElementsAre("A", "B", "C"));
  EXPECT_THAT(to_text(network), testing::HasSubstr("node0: A: f32[1, 2, 5, 5]{0, 2, 3, 1} = Conv@17(X, W)"));
  const size_t node[] = {2};
  const NodeWorkload add = workload_of(network, node);
  EXPECT_THAT(add.workload.definition, testing::HasSubstr("shape: [1, 5, 5, 2]"));
}

TEST(NetworkPasses, IdentitiesAreDroppedAlsoBeforeAResult) {
  Builder made;
  made.input("X", kF32, {int64_t{2}, int64_t{3}});
  made.node("Transpose", {"X"}, {"A"}, {{"perm", std::vector<int64_t>{0, 1}}});
  made.node("Relu", {"A"}, {"B"});
  made.node("Cast", {"B"}, {"Y"}, {{"to", int64_t{1}}});
  made.node("Identity", {"X"}, {"Z"});
  Network network = made.finish({"Y", "Z"});
  run_passes(network, options());
  // The last one copies an input to a result, so it stays.
  EXPECT_EQ(to_text(network),
            "network built\ninput X: f32[2, 3]\nnode1: Y: f32[2, 3] = Relu@17(X)\nnode3: Z: f32[2, 3] = "
            "Identity@17(X)\n"
            "output Y: f32[2, 3]\noutput Z: f32[2, 3]\n");
}

TEST(NetworkPasses, ResultsThatNoNodeComputesAreCopied) {
  Builder made;
  made.input("X", kF32, {int64_t{2}});
  made.numbers("W", {2}, {3, 4});
  made.node("Add", {"X", "W"}, {"Y"});
  made.numbers("none", {0}, {});
  Network network = made.finish({"Y", "W", "X", "none"});
  run_passes(network, options());
  EXPECT_THAT(to_text(network), testing::HasSubstr("\"copy of W\": W: f32[2] = tunesmith.Copy@1(W_2)\n"));
  EXPECT_THAT(to_text(network), testing::HasSubstr("output Y: f32[2]\noutput W: f32[2]\noutput X_2: f32[2]\n"
                                                   "output none: f32[0]\n"))
      << "nothing has to be computed of what has no elements";
  EXPECT_NE(network.tensors[static_cast<size_t>(network.nodes[0].inputs[1])].constant, nullptr)
      << "who reads a constant still knows its values";
  tunesmith::Tensor x = tunesmith::Tensor::zeros(kF32, {2});
  x.set(1, 5);
  const std::vector<tunesmith::Tensor> results = evaluate(network, std::vector<tunesmith::Tensor>{x});
  EXPECT_EQ(results.at(0).get(1), 9);
  EXPECT_EQ(results.at(1).get(0), 3);
  EXPECT_EQ(results.at(2).get(1), 5);
  const size_t copies[] = {1, 2};
  for (const size_t copy : copies) EXPECT_EQ(workload_of(network, {&copy, 1}).outputs.size(), 1U);
}

TEST(NodeWorkloads, JoinStatementsOfSeveralNodes) {
  Builder made;
  made.input("X", kF32, {int64_t{2}, int64_t{3}});
  made.numbers("W", {3, 4}, std::vector<double>(12, 0.25));
  made.node("MatMul", {"X", "W"}, {"A"});
  made.node("Softmax", {"A"}, {"B"});
  made.node("Add", {"B", "A"}, {"Y"});
  Network network = made.finish({"Y"});
  run_passes(network, options());
  const NodeWorkload joined = workload_of(network, std::vector<size_t>{0, 1, 2});
  EXPECT_EQ(joined.inputs, (std::vector<TensorIndex>{0, 1}));
  EXPECT_EQ(joined.outputs, network.outputs);
  EXPECT_TRUE(joined.workload.program.inputs[1]->constant);
  EXPECT_FALSE(joined.workload.program.inputs[0]->constant);
  const NodeWorkload first = workload_of(network, std::vector<size_t>{0, 1});
  EXPECT_EQ(first.outputs.size(), 2U);  // the sum reads both
  // Equal nodes are one task whatever their tensors are called.
  EXPECT_EQ(workload_of(network, std::vector<size_t>{1}).workload.hash,
            workload_of(network, std::vector<size_t>{1}).workload.hash);
}

TEST(NodeWorkloads, AreNamedAfterTheirFirstOperators) {
  Builder made;
  made.input("X", kF32, {int64_t{2}, int64_t{3}});
  std::string before = "X";
  std::vector<size_t> nodes;
  for (const char* const op : {"Relu", "ThresholdedRelu", "HardSwish", "LogSoftmax", "HardSigmoid", "Tanh"}) {
    const std::string after = "T" + std::to_string(nodes.size());
    made.node(op, {before}, {after});
    nodes.push_back(nodes.size());
    before = after;
  }
  Network network = made.finish({before});
  run_passes(network, options());
  const auto name = [&](size_t count) {
    return workload_of(network, std::span(nodes).first(count)).workload.name;
  };
  EXPECT_EQ(name(1), "relu");
  EXPECT_EQ(name(4), "relu_thresholdedrelu_hardswish_logsoftmax");
  EXPECT_EQ(name(5), "relu_thresholdedrelu_hardswish_logsoftmax_and_more") << "names have at most 64 letters";
  EXPECT_EQ(name(6), "relu_thresholdedrelu_hardswish_logsoftmax_and_more");
}

TEST(NetworkEvaluation, ComputesInF64WhateverTheType) {
  Builder made;
  made.input("X", kF16, {int64_t{2}});
  made.numbers("third", {1}, {1.0 / 3.0}, kF64);
  made.node("Cast", {"third"}, {"t"}, {{"to", int64_t{10}}});
  made.node("Add", {"X", "X"}, {"S"});
  made.node("Mul", {"S", "t"}, {"Y"});
  Network network = made.finish({"Y"});
  run_passes(network, options());
  tunesmith::Tensor x = tunesmith::Tensor::zeros(kF16, {2});
  x.set(0, 1.0009765625);
  x.set(1, 60000);
  const tunesmith::Tensor y = evaluate(network, std::vector<tunesmith::Tensor>{x}).at(0);
  const double third = round_to(kF16, 1.0 / 3.0);  // converted once
  EXPECT_EQ(y.dtype, kF64);
  EXPECT_EQ(y.get(0), 2 * 1.0009765625 * third);
  EXPECT_EQ(y.get(1), 2 * 60000.0 * third);  // no infinity on the way
  const tunesmith::Tensor typed =
      evaluate(network, std::vector<tunesmith::Tensor>{x}, Precision::AsTyped).at(0);
  EXPECT_EQ(typed.dtype, kF16);
  EXPECT_EQ(typed.get(0), round_to(kF16, 2 * 1.0009765625 * third));
  EXPECT_TRUE(std::isinf(typed.get(1)));
}

TEST(NetworkEvaluation, RefusesInputsThatDoNotFit) {
  Builder made;
  made.input("X", kI32, {int64_t{2}});
  made.node("Neg", {"X"}, {"Y"});
  Network network = made.finish({"Y"});
  run_passes(network, options());
  const auto refused = [&](std::vector<tunesmith::Tensor> inputs) {
    try {
      evaluate(network, inputs);
    } catch (const UserError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_THAT(refused({}), testing::HasSubstr("takes 1 inputs, found 0"));
  EXPECT_THAT(refused({tunesmith::Tensor::zeros(kI32, {3})}), testing::HasSubstr("an unexpected shape"));
  EXPECT_THAT(refused({tunesmith::Tensor::zeros(kI64, {2})}),
              testing::HasSubstr("of type i64, expected i32"));
}

}  // namespace
}  // namespace tunesmith::network
