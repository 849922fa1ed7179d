// Nodes that are replaced by others: branches, loops, sequences.
#include "run_operator.h"

namespace tunesmith::operators_onnx {
namespace {

using testing::HasSubstr;

const network::Body kThen = body_of("then_branch", {"a", "b"}, {{"s", "Add", "a b"}}, {"s"}, {1, 2});
const network::Body kElse = body_of("else_branch", {"b"}, {{"n", "Neg", "b"}}, {"n"}, {2});

TEST(OnnxBranches, AConditionThatIsKnownLeavesOneBranch) {
  const Given a = counted({2}), b = given({2}, {5, 7});
  const auto with = [&](const Given& condition, const Given& second) {
    return Use{"If", 17, {condition, a, second}, {}, 1, {kThen, kElse}};
  };
  expect_tensor(run(with(known({}, {1}, kBool), b)), {2}, {5, 8});
  expect_tensor(run(with(known({1}, {0}, kBool), counted({3}, 5))), {3}, {-5, -6, -7});
  expect_tensor(run(with(given({}, {0}, kBool), b)), {2}, {-5, -7});
  expect_tensor(run(with(given({}, {1}, kBool), b)), {2}, {5, 8});
  EXPECT_THAT(refusal_of(with(given({}, {0}, kBool), given({}, {5}))), HasSubstr("its condition is data"));
}

/// Nodes in a branch that is not taken are not refused.
TEST(OnnxBranches, WhatIsNotTakenMayBeRefused) {
  const network::Body bad = body_of("else_branch", {"b"}, {{"n", "NoSuchOperator", "b"}}, {"n"}, {2});
  const auto with = [&](double condition) {
    return Use{"If", 17, {known({}, {condition}, kBool), counted({2}), counted({2})}, {}, 1, {kThen, bad}};
  };
  expect_tensor(run(with(1)), {2}, {0, 2});
  EXPECT_THAT(refusal_of(with(0)), HasSubstr("unsupported operator NoSuchOperator@17"));
}

network::Network passed(const Use& use) {
  network::Network network = network_of(use);
  network::run_passes(network, {find_operator, {}});
  return network;
}

/// Adds a captured value to a carried one; the condition stays, and each step's sum is an output.
const network::Body kSums =
    body_of("body", {"trip", "go", "sum", "step"},
            {{"go_on", "Identity", "go"}, {"next", "Add", "sum step"}, {"each", "Neg", "next"}},
            {"go_on", "next", "each"}, {3});

TEST(OnnxLoops, ATripCountThatIsKnownIsSoManySteps) {
  const auto with = [](const Given& trips, const Given& condition) {
    return Use{"Loop", 17, {trips, condition, given({1}, {10}), given({1}, {2})}, {}, 2, {kSums}};
  };
  const auto made = run_all(with(known({}, {3}), known({}, {1}, kBool)));
  expect_tensor(made[0], {1}, {16});
  expect_tensor(made[1], {3, 1}, {-12, -14, -16});
  const auto many = run_all(with(known({}, {40}), known({}, {1}, kBool)));
  expect_tensor(many[0], {1}, {90});
  EXPECT_EQ(many[1].shape, (Ints{40, 1}));
  EXPECT_EQ(many[1].get(39), -90);
  EXPECT_THAT(refusal_of(with(given({}, {3}, kI64), known({}, {1}, kBool))), HasSubstr("trip count"));
  EXPECT_THAT(refusal_of(with(known({}, {3}), given({}, {1}, kBool))), HasSubstr("condition"));
}

/// Steps after the condition fails change nothing: 1, 2, 4, 8, then 16 is not below 10.
TEST(OnnxLoops, AConditionThatIsDataEndsWithinTheTripCount) {
  const network::Body doubles =
      body_of("body", {"trip", "go", "x", "end"}, {{"twice", "Add", "x x"}, {"go_on", "Less", "twice end"}},
              {"go_on", "twice"}, {3});
  const Use use{"Loop", 17, {known({}, {9}), known({}, {1}, kBool), given({}, {1}), given({}, {10})},
                {},     1,  {doubles}};
  expect_tensor(run(use), {}, {16});
  Use never = use;
  never.inputs[1] = given({}, {0}, kBool);
  expect_tensor(run(never), {}, {1});
  EXPECT_EQ(passed(use).loops.size(), 1U);
}

/// The condition follows from the number of the step.
TEST(OnnxLoops, ALoopWithoutATripCountEndsByItsCondition) {
  const network::Body counts =
      body_of("body", {"trip", "go", "x", "last", "one"},
              {{"go_on", "Less", "trip last"}, {"next", "Add", "x one"}}, {"go_on", "next"}, {3, 4});
  expect_tensor(run({"Loop",
                     17,
                     {std::nullopt, known({}, {1}, kBool), given({}, {0}), known({}, {4}), given({}, {1})},
                     {},
                     1,
                     {counts}}),
                {}, {5});
}

TEST(OnnxScans, StepsMayStandBackwards) {
  const network::Body sums = body_of(
      "body", {"sum", "x"}, {{"next", "Add", "sum x"}, {"each", "Identity", "next"}}, {"next", "each"});
  const auto with = [&](int64_t reverse, int64_t prepend) {
    return Use{"Scan",
               17,
               {given({2}, {0, 100}), counted({3, 2})},
               {{"num_scan_inputs", int64_t{1}},
                {"scan_input_directions", Ints{reverse}},
                {"scan_output_directions", Ints{prepend}}},
               2,
               {sums}};
  };
  auto made = run_all(with(0, 0));
  expect_tensor(made[0], {2}, {6, 109});
  expect_tensor(made[1], {3, 2}, {0, 101, 2, 104, 6, 109});
  expect_tensor(run_all(with(1, 0))[1], {3, 2}, {4, 105, 6, 108, 6, 109});
  expect_tensor(run_all(with(0, 1))[1], {3, 2}, {6, 109, 2, 104, 0, 101});
  Use by_column = with(0, 0);
  by_column.inputs[0] = given({3}, {0, 0, 0});
  by_column.attributes["scan_input_axes"] = Ints{1};
  by_column.attributes["scan_output_axes"] = Ints{-1};
  expect_tensor(run_all(by_column)[1], {3, 2}, {0, 1, 2, 5, 4, 9});
}

TEST(OnnxScans, ManyStepsAreALoop) {
  const network::Body each =
      body_of("body", {"sum", "x", "c"}, {{"y", "Add", "sum x"}, {"z", "Mul", "y c"}}, {"y", "z"}, {2});
  const auto with = [&](int64_t steps, int64_t backwards) {
    return Use{"Scan",
               17,
               {given({2}, {0, 0}), counted({steps, 2}), given({2}, {1, 2})},
               {{"num_scan_inputs", int64_t{1}},
                {"scan_input_directions", Ints{backwards}},
                {"scan_output_directions", Ints{backwards}}},
               2,
               {each}};
  };
  for (const int64_t backwards : {0, 1}) {
    const std::vector<Tensor> made = run_all(with(3000, backwards));
    double sum = 0;
    for (int64_t step = 0; step < 3000; ++step) {
      const int64_t row = backwards != 0 ? 2999 - step : step;
      sum += static_cast<double>(2 * row + 1);
      ASSERT_EQ(made[1].get(2 * row + 1), 2 * sum);
    }
    EXPECT_EQ(made[0].get(1), sum);
  }
  EXPECT_TRUE(passed(with(8, 0)).loops.empty());
  const network::Network looped = passed(with(9, 0));
  ASSERT_EQ(looped.loops.size(), 1U);
  EXPECT_EQ(looped.loops[0].end_node - looped.loops[0].first_node, 2U);
  EXPECT_THAT(to_text(looped),
              testing::AllOf(HasSubstr("repeat 9 times"), HasSubstr(" and +2 a trip, of 9")));
}

/// A carried tensor grows in the first step, so steps are written out.
TEST(OnnxLoops, StepsThatChangeShapesAreNoLoop) {
  const auto with = [](double trips) {
    return Use{"Loop", 17, {known({}, {trips}), known({}, {1}, kBool), given({1}, {10}), given({2}, {2, 3})},
               {},     1,  {kSums}};
  };
  expect_tensor(run(with(20)), {2}, {50, 70});
  EXPECT_TRUE(passed(with(20)).loops.empty());
  EXPECT_THAT(refusal_of(with(2049)),
              HasSubstr("its 2049 iterations cannot be a loop: a carried tensor changes shape or type"));
}

/// A sequence's tensors are known, so nodes read them.
network::Network of_sequences(const std::vector<network::Node>& nodes, std::vector<Given> inputs,
                              size_t tensors) {
  network::Network network;
  network.name = "test";
  for (size_t i = 0; i < tensors; ++i)
    network.tensors.push_back({"t" + std::to_string(i), std::nullopt, std::nullopt, nullptr});
  for (size_t i = 0; i < inputs.size(); ++i) {
    const auto owner = std::make_shared<const Tensor>(inputs[i].value);
    network::Tensor& tensor = network.tensors[i];
    tensor.dtype = owner->dtype;
    tensor.shape = std::vector<network::Extent>(owner->shape.begin(), owner->shape.end());
    if (inputs[i].is_constant)
      tensor.constant = std::make_shared<network::Constant>(
          network::Constant{owner->dtype, owner->shape, owner->bytes, owner});
    else
      network.inputs.push_back(static_cast<network::TensorIndex>(i));
  }
  network.nodes = nodes;
  network.outputs = {static_cast<network::TensorIndex>(tensors - 1)};
  network::run_passes(network, {find_operator, {}});
  return network;
}

TEST(OnnxSequences, TheirTensorsAreRead) {
  const Given a = counted({2}), b = counted({3}, 10), place = known({}, {-1});
  const auto node = [](const char* name, const char* op, std::vector<network::TensorIndex> from,
                       network::TensorIndex to, Attributes attributes = {}) {
    return network::Node{name, op, 17, std::move(attributes), std::move(from), {to}, nullptr};
  };
  const network::Network network = of_sequences(
      {node("1", "SequenceConstruct", {0, 1}, 3), node("2", "SequenceInsert", {3, 0, 2}, 4),
       node("3", "Identity", {4}, 5), node("4", "SequenceErase", {5, 2}, 6),
       node("5", "ConcatFromSequence", {6}, 7, {{"axis", int64_t{0}}}), node("6", "SequenceLength", {5}, 8),
       node("7", "Cast", {8}, 9, {{"to", int64_t{1}}}), node("8", "Mul", {7, 9}, 10)},
      {a, b, place}, 11);
  const std::vector<Tensor> inputs{a.value, b.value};
  expect_tensor(network::evaluate(network, inputs)[0], {4}, {0, 3, 0, 3});
}

TEST(OnnxSequences, ASplitOneIsMappedAndJoined) {
  const Given x = counted({5, 2});
  network::Node map{"2", "SequenceMap", 17, {}, {1, 0}, {2}, nullptr};
  map.bodies = {
      body_of("body", {"part", "whole"}, {{"r", "ReduceSum", "whole"}, {"y", "Add", "part r"}}, {"y"})};
  const network::Network network =
      of_sequences({{"1", "SplitToSequence", 17, {}, {0}, {1}, nullptr},
                    map,
                    {"3", "ConcatFromSequence", 17, {{"axis", int64_t{0}}}, {2}, {3}, nullptr}},
                   {x}, 4);
  const std::vector<Tensor> inputs{x.value};
  expect_tensor(network::evaluate(network, inputs)[0], {5, 2}, {45, 46, 47, 48, 49, 50, 51, 52, 53, 54});
}

TEST(OnnxSequences, AnOptionalValueIsThereOrNot) {
  expect_tensor(run({"OptionalHasElement", 18, {given({2}, {1, 2})}}), {}, {1});
  expect_tensor(run({"OptionalHasElement", 18, {}}), {}, {0});
  expect_tensor(run({"OptionalGetElement", 18, {given({2}, {1, 2})}}), {2}, {1, 2});
  EXPECT_THAT(refusal_of({"SequenceAt", 17, {given({2}, {1, 2}), known({}, {0})}}), HasSubstr("no sequence"));
  EXPECT_THAT(refusal_of({"SequenceEmpty", 17, {}}), HasSubstr("its result 'y0' is a sequence"));
}

TEST(OnnxKnownValues, ChooseWhatIsThere) {
  for (const DType dtype : {kF32, kF16, kBF16, kF64, kI64, kI8}) {
    SCOPED_TRACE(dtype.str());
    expect_tensor(run({"NonZero", 13, {known({2, 3}, {0, 4, -0.0, 5, 0, -6}, dtype)}}), {2, 3},
                  {0, 1, 1, 1, 0, 2});
  }
  const Given rows = known({3}, {1, 0, 1}, kBool);
  expect_tensor(run({"Compress", 11, {counted({3, 2}), rows}, {{"axis", int64_t{0}}}}), {2, 2}, {0, 1, 4, 5});
  expect_tensor(run({"Compress", 11, {counted({3, 2}), rows}}), {2}, {0, 2});
}

}  // namespace
}  // namespace tunesmith::operators_onnx
