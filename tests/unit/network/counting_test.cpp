// Extents that depend on data, on their way through a network.
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <operators_onnx/find_operator.h>

#include "onnx_network.h"
#include "tunesmith/network/counted_outputs.h"
#include "tunesmith/network/evaluate.h"
#include "tunesmith/network/pass.h"
#include "tunesmith/network/tasks.h"
#include "tunesmith/support/error.h"

namespace tunesmith::network {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// X [4, 3] and the places P [at most 4] where M [4] is not zero; R are these rows of X.
Builder rows() {
  Builder made;
  made.input("X", kF32, {int64_t{4}, int64_t{3}});
  made.input("M", kF32, {int64_t{4}});
  made.integers("zero", {0});
  made.node("NonZero", {"M"}, {"N"});
  made.node("Squeeze", {"N", "zero"}, {"P"});
  made.node("Gather", {"X", "P"}, {"R"});
  return made;
}

tunesmith::Tensor numbers(Shape shape, std::vector<double> values) {
  tunesmith::Tensor made = tunesmith::Tensor::zeros(kF32, std::move(shape));
  for (size_t i = 0; i < values.size(); ++i) made.set(static_cast<int64_t>(i), values[i]);
  return made;
}

Network passed(Network network) {
  run_passes(network, {operators_onnx::find_operator, {}});
  return network;
}

const std::vector<tunesmith::Tensor> kInputs{numbers({4, 3}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}),
                                             numbers({4}, {0, 7, 0, -1})};

std::vector<double> values_of(const tunesmith::Tensor& tensor) {
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.elements(); ++i) values.push_back(tensor.get(i));
  return values;
}

tunesmith::Tensor result_of(const Builder& made, const std::string& name,
                            const std::vector<tunesmith::Tensor>& inputs = kInputs) {
  Builder copy = made;
  const Network network = passed(copy.finish({name}));
  return cut_to_counts(network.counted, evaluate(network, inputs)).at(0);
}

std::string refusal_of(Builder made, const std::string& name) {
  try {
    passed(made.finish({name}));
  } catch (const UserError& error) {
    return error.what();
  }
  return "nothing was refused";
}

TEST(NetworkCounting, AResultWithACountHasItBesideIt) {
  Builder made = rows();
  made.node("Neg", {"R"}, {"Y"});
  const Network network = passed(made.finish({"Y", "N"}));
  ASSERT_EQ(network.outputs.size(), 3U);  // both have one count
  EXPECT_THAT(network.counted, ElementsAre(CountedOutput{0, 0, 2}, CountedOutput{1, 1, 2}));
  EXPECT_TRUE(is_count(network.counted, 2));
  EXPECT_FALSE(is_count(network.counted, 1));
  EXPECT_THAT(to_text(network), HasSubstr("axis 0 of Y\n"));
  const auto results = cut_to_counts(network.counted, evaluate(network, kInputs));
  ASSERT_EQ(results.size(), 2U);
  EXPECT_EQ(results[0].shape, (Shape{2, 3}));
  EXPECT_THAT(values_of(results[0]), ElementsAre(-3, -4, -5, -9, -10, -11));
  EXPECT_THAT(values_of(results[1]), ElementsAre(1, 3));
  std::vector<tunesmith::Tensor> all = evaluate(network, kInputs);
  all[2].set_int(0, 5);
  EXPECT_THROW(cut_to_counts(network.counted, all), Error);
}

TEST(NetworkCounting, PassesThroughWhatComputesElementsAlongItAlone) {
  Builder made = rows();
  made.numbers("W", {3, 2}, {1, 0, 0, 1, 1, 1});
  made.numbers("b", {3}, {1, 1, 1});
  made.integers("minus", {-1});
  made.node("Add", {"R", "b"}, {"added"});
  made.node("MatMul", {"added", "W"}, {"product"});
  made.node("Softmax", {"R"}, {"softmax"});
  made.node("ReduceSum", {"softmax", "minus"}, {"sums"}, {{"keepdims", int64_t{0}}});
  made.node("Transpose", {"product"}, {"turned"});
  made.node("Concat", {"R", "added"}, {"joined"}, {{"axis", int64_t{1}}});
  made.node("CastLike", {"b", "R"}, {"type alone"});
  EXPECT_THAT(values_of(result_of(made, "product")), ElementsAre(10, 11, 22, 23));
  EXPECT_EQ(result_of(made, "turned").shape, (Shape{2, 2}));
  EXPECT_THAT(values_of(result_of(made, "turned")), ElementsAre(10, 22, 11, 23));
  EXPECT_THAT(values_of(result_of(made, "sums")), ElementsAre(testing::DoubleEq(1), testing::DoubleEq(1)));
  EXPECT_THAT(values_of(result_of(made, "joined")), ElementsAre(3, 4, 5, 4, 5, 6, 9, 10, 11, 10, 11, 12));
  EXPECT_EQ(result_of(made, "type alone").shape, (Shape{3}));
}

TEST(NetworkCounting, OperatorsThatKnowItTakeThePartThatExists) {
  Builder made = rows();
  made.integers("one", {1});
  made.integers("last", {-1});
  made.integers("far", {9});
  made.numbers("Z", {1, 3}, {-1, -2, -3});
  made.node("Shape", {"R"}, {"shape"});
  made.node("Size", {"R"}, {"size"});
  made.node("Slice", {"R", "one", "far", "zero"}, {"behind"});
  made.node("Slice", {"R", "zero", "last", "zero"}, {"before"});
  made.node("Slice", {"R", "zero", "one", "one"}, {"column"});
  made.node("Concat", {"R", "Z", "behind"}, {"joined"}, {{"axis", int64_t{0}}});
  made.node("NonZero", {"R"}, {"again"});
  made.node("Sub", {"P", "far"}, {"backwards"});
  made.node("Gather", {"R", "P"}, {"near"});
  made.node("TopK", {"column", "one"}, {"best", "at"}, {{"axis", int64_t{0}}});
  EXPECT_THAT(values_of(result_of(made, "shape")), ElementsAre(2, 3));
  EXPECT_THAT(values_of(result_of(made, "size")), ElementsAre(6));
  EXPECT_THAT(values_of(result_of(made, "behind")), ElementsAre(9, 10, 11));
  EXPECT_THAT(values_of(result_of(made, "before")), ElementsAre(3, 4, 5));
  EXPECT_THAT(values_of(result_of(made, "column")), ElementsAre(3, 9));
  EXPECT_THAT(values_of(result_of(made, "joined")), ElementsAre(3, 4, 5, 9, 10, 11, -1, -2, -3, 9, 10, 11));
  EXPECT_EQ(result_of(made, "again").shape, (Shape{2, 6}));
  EXPECT_THAT(values_of(result_of(made, "best")), ElementsAre(9));
  EXPECT_THAT(values_of(result_of(made, "at")), ElementsAre(1));
  const std::vector<tunesmith::Tensor> none{kInputs[0], numbers({4}, {0, 0, 0, 0})};
  EXPECT_EQ(result_of(made, "behind", none).shape, (Shape{0, 3}));
  EXPECT_EQ(result_of(made, "again", none).shape, (Shape{2, 0}));
  EXPECT_THAT(values_of(result_of(made, "joined", none)), ElementsAre(-1, -2, -3));
}

TEST(NetworkCounting, ASliceMayBeginBehindWhatExists) {
  Builder made = rows();
  made.input("E", kI64, {int64_t{1}});
  made.integers("three", {3});
  made.node("Slice", {"R", "three", "E", "zero"}, {"by data"});
  made.node("Slice", {"R", "three", "zero", "zero"}, {"nothing"});
  std::vector<tunesmith::Tensor> inputs = kInputs;
  inputs.push_back(tunesmith::Tensor::zeros(kI64, {1}));
  for (const int64_t end : {std::numeric_limits<int64_t>::min(), int64_t{-1}, int64_t{0}, int64_t{4}}) {
    inputs[2].set_int(0, end);
    EXPECT_EQ(result_of(made, "by data", inputs).shape, (Shape{0, 3})) << end;
  }
  EXPECT_EQ(result_of(made, "nothing", inputs).shape, (Shape{0, 3}));
}

TEST(NetworkCounting, ReductionsTakeWhatExists) {
  const auto reduced = [](const std::string& op, std::map<std::string, Attribute> attributes) {
    Builder made = rows();
    attributes["keepdims"] = int64_t{0};
    made.node(op, {"R"}, {"Y"}, std::move(attributes));
    return values_of(result_of(made, "Y"));
  };
  const std::map<std::string, Attribute> rows_alone{{"axes", std::vector<int64_t>{0}}};
  EXPECT_THAT(reduced("ReduceMax", rows_alone), ElementsAre(9, 10, 11));
  EXPECT_THAT(reduced("ReduceMin", rows_alone), ElementsAre(3, 4, 5));
  EXPECT_THAT(reduced("ReduceMean", rows_alone), ElementsAre(6, 7, 8));
  EXPECT_THAT(reduced("ReduceMean", {}), ElementsAre(7));
  EXPECT_THAT(reduced("ReduceProd", rows_alone), ElementsAre(27, 40, 55));
  EXPECT_THAT(reduced("ReduceL1", {}), ElementsAre(42));
  EXPECT_THAT(reduced("ReduceLogSumExp", {{"axes", std::vector<int64_t>{0}}}).at(0),
              testing::DoubleNear(std::log(std::exp(3.0) + std::exp(9.0)), 1e-9));
}

TEST(NetworkCounting, ShapesThatAreComputedOfItFollowIt) {
  Builder made = rows();
  made.integers("four", {4});
  made.integers("pair", {1, 3});
  made.numbers("one row", {1, 3}, {7, 8, 9});
  made.numbers("step", {}, {1}, kI64);
  made.numbers("begin", {}, {0}, kI64);
  made.node("Shape", {"R"}, {"shape"});
  made.node("Gather", {"shape", "zero"}, {"found"});
  made.node("Expand", {"one row", "shape"}, {"expanded"});
  made.node("ConstantOfShape", {"found"}, {"zeros"});
  made.node("Squeeze", {"found", "zero"}, {"end"});
  made.node("Range", {"begin", "end", "step"}, {"places"});
  made.node("Mul", {"places", "four"}, {"multiples"});
  made.node("Concat", {"found", "pair"}, {"to"}, {{"axis", int64_t{0}}});
  made.node("Reshape", {"R", "to"}, {"reshaped"});
  made.node("NonZero", {"expanded"}, {"of constants"});
  EXPECT_THAT(values_of(result_of(made, "expanded")), ElementsAre(7, 8, 9, 7, 8, 9));
  EXPECT_THAT(values_of(result_of(made, "zeros")), ElementsAre(0, 0));
  EXPECT_THAT(values_of(result_of(made, "multiples")), ElementsAre(0, 4));
  EXPECT_EQ(result_of(made, "of constants").shape, (Shape{2, 6}));
  EXPECT_EQ(result_of(made, "reshaped").shape, (Shape{2, 1, 3}));
  EXPECT_EQ(result_of(made, "places", {kInputs[0], numbers({4}, {0, 0, 0, 0})}).shape, (Shape{0}));
}

/// Exporters write ones where an extent of Expand is -1.
TEST(NetworkCounting, ComparisonsThatNoCountChangesAreConstants) {
  Builder made = rows();
  made.integers("ones", {1, 1});
  made.integers("minus", {-1, -1});
  made.integers("two", {2, 3});
  made.numbers("one row", {1, 3}, {7, 8, 9});
  made.node("Shape", {"R"}, {"shape"});
  made.node("Equal", {"shape", "minus"}, {"is open"});
  made.node("Where", {"is open", "ones", "shape"}, {"to"});
  made.node("Expand", {"one row", "to"}, {"expanded"});
  made.node("Equal", {"shape", "two"}, {"is two"});
  EXPECT_THAT(values_of(result_of(made, "expanded")), ElementsAre(7, 8, 9, 7, 8, 9));
  EXPECT_THAT(values_of(result_of(made, "is two")), ElementsAre(1, 1));
  EXPECT_THAT(values_of(result_of(made, "is two", {kInputs[0], numbers({4}, {0, 0, 1, 0})})),
              ElementsAre(0, 1));
}

TEST(NetworkCounting, CountsThatCancelAreConstants) {
  Builder made = rows();
  made.node("Shape", {"P"}, {"found"});
  made.node("Sub", {"found", "found"}, {"start"});
  made.node("Slice", {"X", "start", "found", "zero"}, {"first"});
  EXPECT_THAT(values_of(result_of(made, "first")), ElementsAre(0, 1, 2, 3, 4, 5));
}

/// An index tuple for each row of R, and the other half of R's rows.
Builder scattered() {
  Builder made = rows();
  made.integers("column", {-1, 1});
  made.node("Neg", {"R"}, {"negative"});
  made.node("Reshape", {"P", "column"}, {"tuples"});
  made.node("Shape", {"R"}, {"shape"});
  made.node("Expand", {"tuples", "shape"}, {"each"});
  return made;
}

TEST(NetworkCounting, ScattersWhatExists) {
  Builder made = scattered();
  made.numbers("five", {}, {5});
  made.integers("last", {-1});
  made.numbers("last tuple", {1, 1}, {-1}, kI64);
  made.numbers("row", {1, 3}, {7, 7, 7});
  made.node("ScatterElements", {"X", "each", "negative"}, {"elements"});
  made.node("ScatterND", {"X", "tuples", "negative"}, {"slices"});
  made.node("ScatterND", {"X", "tuples", "negative"}, {"sum"}, {{"reduction", std::string("add")}});
  made.node("ScatterND", {"R", "last tuple", "row"}, {"from the end"});
  // Data and indices with a count each.
  made.node("ReduceMax", {"R"}, {"largest"}, {{"axes", std::vector<int64_t>{1}}, {"keepdims", int64_t{0}}});
  made.node("Greater", {"largest", "five"}, {"is large"});
  made.node("NonZero", {"is large"}, {"M2"});
  made.node("Transpose", {"M2"}, {"T2"}, {{"perm", std::vector<int64_t>{1, 0}}});
  made.node("GatherND", {"X", "T2"}, {"R2"});
  made.node("ScatterND", {"R", "T2", "R2"}, {"of two counts"});
  const auto negated = ElementsAre(0, 1, 2, -3, -4, -5, 6, 7, 8, -9, -10, -11);
  EXPECT_THAT(values_of(result_of(made, "elements")), negated);
  EXPECT_THAT(values_of(result_of(made, "slices")), negated);
  EXPECT_THAT(values_of(result_of(made, "sum")), ElementsAre(0, 1, 2, 0, 0, 0, 6, 7, 8, 0, 0, 0));
  EXPECT_THAT(values_of(result_of(made, "from the end")), ElementsAre(3, 4, 5, 7, 7, 7));
  EXPECT_THAT(values_of(result_of(made, "of two counts")), ElementsAre(3, 4, 5, 3, 4, 5));
  const std::vector<tunesmith::Tensor> none{kInputs[0], numbers({4}, {0, 0, 0, 0})};
  EXPECT_EQ(values_of(result_of(made, "slices", none)), values_of(kInputs[0]));
  EXPECT_EQ(result_of(made, "of two counts", none).shape, (Shape{0, 3}));
}

TEST(NetworkCounting, OtherScatteredExtentsAreRefused) {
  Builder made = scattered();
  made.integers("turn", {1, -1});
  made.node("ScatterND", {"X", "tuples", "X"}, {"all updates"});
  made.node("Reshape", {"P", "turn"}, {"one tuple"});
  made.node("ScatterND", {"X", "one tuple", "M"}, {"depth"});
  EXPECT_THAT(refusal_of(made, "all updates"), HasSubstr("it is not one extent of both"));
  EXPECT_THAT(refusal_of(made, "depth"), HasSubstr("data"));
}

TEST(NetworkCounting, RegionsOfInterestAreRows) {
  Builder made = rows();
  std::vector<double> pixels(16);
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<double>(i * i);
  made.numbers("image", {1, 1, 4, 4}, pixels);
  made.numbers("boxes", {4, 4}, {0, 0, 1, 1, 0, 0, 3, 3, 1, 1, 2, 2, 1, 0, 3, 2});
  made.numbers("images", {4}, {0, 0, 0, 0}, kI64);
  made.node("Gather", {"boxes", "P"}, {"some boxes"});
  made.node("Gather", {"images", "P"}, {"some images"});
  const std::map<std::string, Attribute> sampled{{"sampling_ratio", int64_t{2}}};
  made.node("RoiAlign", {"image", "some boxes", "some images"}, {"some"}, sampled);
  made.node("RoiAlign", {"image", "boxes", "images"}, {"all"}, sampled);
  const auto all = values_of(result_of(made, "all"));
  EXPECT_THAT(values_of(result_of(made, "some")), ElementsAre(all[1], all[3]));
}

/// An If without bodies has both branches' results as inputs.
TEST(NetworkCounting, BranchesMayDifferInAnExtent) {
  Builder made = rows();
  made.numbers("none", {0, 3}, {});
  made.numbers("some", {5, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
  made.numbers("nothing", {}, {0}, kI64);
  made.node("Size", {"R"}, {"size"});
  made.node("Equal", {"size", "nothing"}, {"is empty"});
  made.node("If", {"is empty", "none", "R"}, {"Y"});
  made.node("If", {"is empty", "some", "R"}, {"Z"});
  const std::vector<tunesmith::Tensor> empty{kInputs[0], numbers({4}, {0, 0, 0, 0})};
  EXPECT_THAT(values_of(result_of(made, "Y")), ElementsAre(3, 4, 5, 9, 10, 11));
  EXPECT_EQ(result_of(made, "Y", empty).shape, (Shape{0, 3}));
  EXPECT_THAT(values_of(result_of(made, "Z")), ElementsAre(3, 4, 5, 9, 10, 11));
  EXPECT_EQ(result_of(made, "Z", empty).shape, (Shape{5, 3}));
  made.numbers("flat", {5}, {1, 2, 3, 4, 5});
  made.node("If", {"is empty", "flat", "R"}, {"W"});
  EXPECT_THAT(refusal_of(made, "W"), HasSubstr("its branches give other types or shapes"));
}

TEST(NetworkCounting, CountsThatAreComputedAlikeAreOne) {
  Builder made = rows();
  made.node("NonZero", {"M"}, {"N again"});
  made.node("Squeeze", {"N again", "zero"}, {"P again"});
  made.node("Gather", {"X", "P again"}, {"R again"});
  made.integers("begin", {0});
  made.integers("end", {4});
  made.node("Slice", {"R again", "begin", "end", "zero"}, {"all of them"});
  made.node("Concat", {"all of them"}, {"one part"}, {{"axis", int64_t{0}}});
  made.node("Add", {"R", "one part"}, {"sum"});
  made.node("Concat", {"R", "X"}, {"joined"}, {{"axis", int64_t{0}}});
  made.node("Concat", {"R again", "R", "R"}, {"longer"}, {{"axis", int64_t{0}}});
  made.node("Concat", {"R", "R again", "R"}, {"as long"}, {{"axis", int64_t{0}}});
  made.node("Add", {"longer", "as long"}, {"of joined"});
  made.node("Concat", {"R", "X", "X"}, {"with others"}, {{"axis", int64_t{0}}});
  made.node("Add", {"longer", "with others"}, {"other"});
  EXPECT_THAT(values_of(result_of(made, "sum")), ElementsAre(6, 8, 10, 18, 20, 22));
  EXPECT_THAT(values_of(result_of(made, "joined")),
              ElementsAre(3, 4, 5, 9, 10, 11, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
  EXPECT_EQ(result_of(made, "of joined").shape, (Shape{6, 3}));
  EXPECT_THAT(refusal_of(made, "other"), HasSubstr("another input has another such extent"));
}

TEST(NetworkCounting, AnAxisIsJoinedWithThoseBehindIt) {
  Builder made = rows();
  made.integers("flat", {-1});
  made.integers("parts", {-1, 1});
  made.integers("last", {1, -1});
  made.node("Reshape", {"R", "flat"}, {"Y"});
  made.node("Reshape", {"R", "parts"}, {"Z"});
  made.node("Transpose", {"R"}, {"T"}, {{"perm", std::vector<int64_t>{1, 0}}});
  made.node("Reshape", {"T", "flat"}, {"W"});
  made.integers("no elements", {-1, 3, 0});
  made.node("Reshape", {"R", "no elements"}, {"V"});
  EXPECT_THAT(values_of(result_of(made, "Y")), ElementsAre(3, 4, 5, 9, 10, 11));
  EXPECT_EQ(result_of(made, "Z").shape, (Shape{6, 1}));
  EXPECT_THAT(refusal_of(made, "W"), HasSubstr("independently"));
  EXPECT_THAT(refusal_of(made, "V"), HasSubstr("a dimension of 0 stands behind"));
}

/// As torchvision's detectors take at most so many candidates.
TEST(NetworkCounting, AnExtentIsAtMostWhatAMinimumSays) {
  Builder made = rows();
  made.integers("two", {2});
  made.integers("first column", {0});
  made.node("Gather", {"R", "zero"}, {"column"}, {{"axis", int64_t{1}}});
  made.node("Shape", {"R"}, {"shape"});
  made.node("Gather", {"shape", "zero"}, {"found"});
  made.node("Concat", {"two", "found"}, {"numbers"}, {{"axis", int64_t{0}}});
  made.node("ReduceMin", {"numbers"}, {"K"});
  made.node("TopK", {"R", "K"}, {"best", "at"}, {{"axis", int64_t{0}}});
  Builder copy = made;
  const Network network = passed(copy.finish({"best"}));
  EXPECT_EQ(std::get<int64_t>(network.tensors[static_cast<size_t>(network.outputs[0])].shape->at(0)), 2);
  EXPECT_THAT(values_of(result_of(made, "best")), ElementsAre(9, 10, 11, 3, 4, 5));
  EXPECT_THAT(values_of(result_of(made, "best", {kInputs[0], numbers({4}, {0, 0, 1, 0})})),
              ElementsAre(6, 7, 8));
}

TEST(NetworkCounting, OnlyBoxesThatAreReadAreChosen) {
  const auto trips = [](int begin, bool is_shape_read) {
    Builder made;
    made.input("boxes", kF32, {int64_t{1}, int64_t{40}, int64_t{4}});
    made.input("scores", kF32, {int64_t{1}, int64_t{1}, int64_t{40}});
    made.integers("all", {1000});
    made.integers("column", {2});
    made.integers("begin", {static_cast<double>(begin)});
    made.integers("end", {9});
    made.integers("first", {0});
    made.integers("last", {1});
    made.node("NonMaxSuppression", {"boxes", "scores", "all"}, {"found"});
    made.node("Gather", {"found", "column"}, {"numbers"}, {{"axis", int64_t{1}}});
    made.node("Squeeze", {"numbers", "last"}, {"kept"});
    made.node("Slice", {"kept", "begin", "end", "first"}, {"Y"});
    if (is_shape_read) made.node("Size", {"kept"}, {"size"});
    return passed(made.finish({is_shape_read ? "size" : "Y"})).loops.at(0).trips;
  };
  EXPECT_EQ(trips(0, false), 9);
  EXPECT_EQ(trips(1, false), 40);
  EXPECT_EQ(trips(0, true), 40);
}

TEST(NetworkCounting, NegativeIndicesCountFromTheLastThatExists) {
  Builder made = rows();
  made.input("I", kI64, {int64_t{2}});
  made.node("Gather", {"R", "I"}, {"Y"});
  std::vector<tunesmith::Tensor> inputs = kInputs;
  inputs.push_back(tunesmith::Tensor::zeros(kI64, {2}));
  inputs[2].set_int(0, -1);
  inputs[2].set_int(1, -2);
  EXPECT_THAT(values_of(result_of(made, "Y", inputs)), ElementsAre(9, 10, 11, 3, 4, 5));
}

/// Each of these would read elements that do not exist, or the bound in the place of the extent.
TEST(NetworkCounting, OtherNodesAreRefusedByName) {
  Builder made = rows();
  made.integers("all", {4, 3});
  made.integers("flat", {-1});
  made.integers("backwards", {-1});
  made.integers("first", {-9});
  made.numbers("Z", {4, 3}, std::vector<double>(12, 1));
  made.input("O", kF32, {int64_t{4}});
  made.node("NonZero", {"O"}, {"other N"});
  made.node("Squeeze", {"other N", "zero"}, {"other P"});
  made.node("Gather", {"X", "other P"}, {"other R"});
  made.node("ArgMax", {"R"}, {"best"});
  made.node("Softmax", {"R"}, {"softmax"}, {{"axis", int64_t{0}}});
  made.node("CumSum", {"R", "zero"}, {"running"});
  made.node("Expand", {"R", "all"}, {"expanded"});
  made.integers("two", {2});
  made.node("Shape", {"P"}, {"found"});
  made.node("Mul", {"found", "two"}, {"doubled"});
  made.node("ConstantOfShape", {"doubled"}, {"zeros of twice"});
  made.node("Add", {"found", "two"}, {"two more"});
  made.node("ConstantOfShape", {"two more"}, {"more zeros"});
  made.integers("four", {4});
  made.node("Slice", {"X", "found", "four", "zero"}, {"from data"});
  made.node("Min", {"found", "two"}, {"at most two"});
  made.node("ConstantOfShape", {"at most two"}, {"few zeros"});
  made.numbers("5", {}, {5}, kI64);
  made.numbers("3", {}, {3}, kI64);
  made.numbers("2", {}, {2}, kI64);
  made.numbers("0", {}, {0}, kI64);
  made.node("Squeeze", {"found", "zero"}, {"extent"});
  made.node("Mul", {"extent", "3"}, {"thrice"});
  made.node("Sub", {"thrice", "5"}, {"thrice less five"});
  made.node("Range", {"0", "thrice less five", "2"}, {"by two"});  // 4 of 4, and 5 of 5, but 1 of 2
  made.node("Reshape", {"R", "all"}, {"reshaped"});
  made.node("Slice", {"R", "first", "flat", "zero"}, {"from the end"});
  made.node("Slice", {"R", "flat", "first", "zero", "backwards"}, {"reversed"});
  made.node("Add", {"R", "Z"}, {"with all"});
  made.node("Add", {"R", "other R"}, {"with others"});
  made.node("Gather", {"R", "zero"}, {"known place"});
  made.node("EyeLike", {"R"}, {"eye"});
  made.node("Transpose", {"R"}, {"turned"});
  made.node("MatMul", {"turned", "R"}, {"product"});
  for (const char* name : {"best", "softmax", "running", "expanded", "reshaped", "from the end", "reversed",
                           "with all", "with others", "known place", "eye", "product", "zeros of twice",
                           "from data", "more zeros", "by two"}) {
    SCOPED_TRACE(name);
    EXPECT_THAT(refusal_of(made, name),
                testing::AnyOf(HasSubstr("extent that is data"), HasSubstr("extent of an axis"),
                               HasSubstr("whose extent is data")));
  }
  EXPECT_THAT(refusal_of(made, "few zeros"), HasSubstr("must be known before the network runs"));
  EXPECT_THAT(refusal_of(made, "best"), HasSubstr("its input 'R' has an extent that is data, at most 4"));
}

TEST(NetworkCounting, AFilesExtentMayBeTheOneOfItsExample) {
  Builder made = rows();
  Network network = made.finish({"R"});
  network.tensors[static_cast<size_t>(network.outputs[0])].shape =
      std::vector<Extent>{int64_t{2}, int64_t{3}};
  EXPECT_EQ(passed(network).counted.size(), 1U);
  network.tensors[static_cast<size_t>(network.outputs[0])].shape =
      std::vector<Extent>{int64_t{5}, int64_t{3}};
  EXPECT_THROW(passed(network), UserError);
}

}  // namespace
}  // namespace tunesmith::network
