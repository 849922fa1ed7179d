#include "run_operator.h"

namespace tunesmith::operators_onnx {
namespace {

TEST(OnnxPooling, MaxPoolIgnoresPadding) {
  const Given x = given({1, 1, 5}, {-1, -2, -3, -9, -5});
  const auto with = [](Attributes more) {
    more["kernel_shape"] = Ints{2};
    return more;
  };
  expect_tensor(run({"MaxPool", 12, {x}, with({})}), {1, 1, 4}, {-1, -2, -3, -5});
  expect_tensor(run({"MaxPool", 12, {x}, with({{"pads", Ints{1, 1}}})}), {1, 1, 6}, {-1, -1, -2, -3, -5, -5});
  expect_tensor(run({"MaxPool", 12, {x}, with({{"strides", Ints{2}}})}), {1, 1, 2}, {-1, -3});
  expect_tensor(run({"MaxPool", 12, {x}, with({{"strides", Ints{2}}, {"ceil_mode", int64_t{1}}})}), {1, 1, 3},
                {-1, -3, -5});
  expect_tensor(run({"MaxPool", 12, {x}, with({{"dilations", Ints{2}}})}), {1, 1, 3}, {-1, -2, -3});
  expect_tensor(run({"MaxPool", 12, {given({1, 1, 3}, {1, 9, 4}, kU8)}, with({})}), {1, 1, 2}, {9, 9});
}

/// The position in the whole input of the first maximum; NaN counts as largest.
TEST(OnnxPooling, MaxPoolSaysWhereTheLargestStand) {
  const Given x = given({1, 2, 2, 3}, {1, 7, 7, 2, kNan, 3, -1, -1, -2, -5, -4, -3});
  Attributes window{{"kernel_shape", Ints{2, 2}}};
  expect_tensor(run_all({"MaxPool", 12, {x}, window, 2})[1], {1, 2, 1, 2}, {4, 4, 6, 7});
  window["pads"] = Ints{0, 1, 0, 0};
  expect_tensor(run_all({"MaxPool", 12, {x}, window, 2})[1], {1, 2, 1, 3}, {3, 4, 4, 6, 6, 7});
  window["storage_order"] = int64_t{1};
  expect_tensor(run_all({"MaxPool", 12, {x}, window, 2})[1], {1, 2, 1, 3}, {1, 3, 3, 6, 6, 8});
}

TEST(OnnxPooling, MaxUnpoolPutsThemBack) {
  const Given x = given({1, 1, 1, 2}, {5, 6}), places = given({1, 1, 1, 2}, {4, 3}, kI64);
  const Attributes window{{"kernel_shape", Ints{2, 2}}, {"strides", Ints{2, 2}}};
  expect_tensor(run({"MaxUnpool", 11, {x, places}, window}), {1, 1, 2, 4}, {0, 0, 0, 6, 5, 0, 0, 0});
  expect_tensor(run({"MaxUnpool", 11, {x, places, known({4}, {1, 1, 3, 4})}, window}), {1, 1, 3, 4},
                {0, 0, 0, 6, 5, 0, 0, 0, 0, 0, 0, 0});
}

TEST(OnnxPooling, WindowsDoNotBeginBehindTheInput) {
  // Rounding up would give a second window, behind the input.
  const Attributes behind{{"kernel_shape", Ints{1}}, {"strides", Ints{3}}, {"ceil_mode", int64_t{1}}};
  expect_tensor(run({"MaxPool", 19, {given({1, 1, 2}, {1, 2})}, behind}), {1, 1, 1}, {1});
  const Given x = given({1, 1, 3}, {1, 2, 3});
  const Attributes wide{
      {"kernel_shape", Ints{2}}, {"strides", Ints{3}}, {"pads", Ints{1, 1}}, {"ceil_mode", int64_t{1}}};
  expect_tensor(run({"MaxPool", 19, {x}, wide}), {1, 1, 2}, {1, 3});
}

TEST(OnnxPooling, TheMeanOfPaddingAloneIsZero) {
  const Attributes around{{"kernel_shape", Ints{2}}, {"dilations", Ints{2}}, {"pads", Ints{1, 1}}};
  expect_tensor(run({"AveragePool", 19, {given({1, 1, 1}, {5})}, around}), {1, 1, 1}, {0});
}

TEST(OnnxPooling, TheOnlyWindowMayEndBehindTheInput) {
  const Given x = given({1, 1, 4}, {1, 9, 3, 4});
  Attributes reaching{
      {"kernel_shape", Ints{3}}, {"dilations", Ints{2}}, {"strides", Ints{3}}, {"ceil_mode", int64_t{1}}};
  expect_tensor(run({"MaxPool", 19, {x}, reaching}), {1, 1, 1}, {3});
  expect_tensor(run({"AveragePool", 19, {x}, reaching}), {1, 1, 1}, {2});
  reaching["ceil_mode"] = int64_t{0};
  EXPECT_THAT(refusal_of({"MaxPool", 19, {x}, reaching}), testing::HasSubstr("the kernel is larger"));
}

TEST(OnnxPooling, AveragePoolCountsElementsOrPadding) {
  const Given x = given({1, 1, 3}, {3, 6, 12});
  const auto with = [](Attributes more) {
    more["kernel_shape"] = Ints{2};
    return more;
  };
  expect_tensor(run({"AveragePool", 19, {x}, with({})}), {1, 1, 2}, {4.5, 9});
  expect_tensor(run({"AveragePool", 19, {x}, with({{"pads", Ints{1, 1}}})}), {1, 1, 4}, {3, 4.5, 9, 12});
  expect_tensor(
      run({"AveragePool", 19, {x}, with({{"pads", Ints{1, 1}}, {"count_include_pad", int64_t{1}}})}),
      {1, 1, 4}, {1.5, 4.5, 9, 6});
  // The last window reaches beyond the input; there is no padding to count.
  expect_tensor(
      run({"AveragePool",
           19,
           {x},
           with({{"strides", Ints{2}}, {"ceil_mode", int64_t{1}}, {"count_include_pad", int64_t{1}}})}),
      {1, 1, 2}, {4.5, 12});
  expect_tensor(run({"AveragePool",
                     19,
                     {given({1, 1, 2, 2}, {1, 2, 3, 4})},
                     {{"kernel_shape", Ints{2, 2}}, {"pads", Ints{0, 1, 0, 0}}}}),
                {1, 1, 1, 2}, {2, 2.5});
}

TEST(OnnxPooling, GlobalPoolsReduceAllSpatialAxes) {
  const Given x = counted({1, 2, 2, 3});
  expect_tensor(run({"GlobalAveragePool", 1, {x}}), {1, 2, 1, 1}, {2.5, 8.5});
  expect_tensor(run({"GlobalMaxPool", 1, {x}}), {1, 2, 1, 1}, {5, 11});
}

TEST(OnnxReductions, TakeAxesInBothForms) {
  const Given x = counted({2, 2, 3}, 1);  // 1 .. 12
  expect_tensor(run({"ReduceSum", 11, {x}, {{"axes", Ints{1}}}}), {2, 1, 3}, {5, 7, 9, 17, 19, 21});
  expect_tensor(run({"ReduceSum", 13, {x, known({1}, {1})}, {{"keepdims", int64_t{0}}}}), {2, 3},
                {5, 7, 9, 17, 19, 21});
  expect_tensor(run({"ReduceSum", 13, {x, known({2}, {-1, 0})}, {{"keepdims", int64_t{0}}}}), {2}, {30, 48});
  expect_tensor(run({"ReduceSum", 13, {x}}), {1, 1, 1}, {78});
  expect_tensor(run({"ReduceSum", 13, {x}, {{"keepdims", int64_t{0}}}}), {}, {78});
  expect_tensor(
      run({"ReduceSum", 13, {given({2}, {1, 2}), known({0}, {})}, {{"noop_with_empty_axes", int64_t{1}}}}),
      {2}, {1, 2});
  EXPECT_THAT(refusal_of({"ReduceSum", 13, {x, known({1}, {3})}}), testing::HasSubstr("there is no axis 3"));
  EXPECT_THAT(refusal_of({"ReduceSum", 13, {x, given({1}, {1}, kI64)}}),
              testing::HasSubstr("input 1 ('axes') must be known"));
}

TEST(OnnxReductions, ComputeWhatTheyAreNamedAfter) {
  const std::vector<double> v{-1, 2, 3, 0.5};
  const auto reduced = [&](const char* op) {
    return run({op, 13, {given({1, 4}, v)}, {{"axes", Ints{1}}, {"keepdims", int64_t{0}}}}).get(0);
  };
  EXPECT_NEAR(reduced("ReduceMean"), 4.5 / 4, 1e-12);
  EXPECT_EQ(reduced("ReduceMax"), 3);
  EXPECT_EQ(reduced("ReduceMin"), -1);
  EXPECT_NEAR(reduced("ReduceProd"), -3, 1e-12);
  EXPECT_NEAR(reduced("ReduceL1"), 6.5, 1e-12);
  EXPECT_NEAR(reduced("ReduceL2"), std::sqrt(14.25), 1e-12);
  EXPECT_NEAR(reduced("ReduceSumSquare"), 14.25, 1e-12);
  EXPECT_NEAR(reduced("ReduceLogSum"), std::log(4.5), 1e-12);
  EXPECT_NEAR(reduced("ReduceLogSumExp"), std::log(std::exp(-1) + std::exp(2) + std::exp(3) + std::exp(0.5)),
              1e-12);
  expect_tensor(run({"ReduceLogSumExp", 13, {given({2}, {1000, 1000})}}), {1}, {1000 + std::log(2.0)});
  expect_tensor(run({"ReduceProd", 13, {counted({2, 70}, 1, 0)}, {{"axes", Ints{1}}}}), {2, 1}, {1, 1});
  expect_tensor(run({"ReduceProd", 13, {given({2, 3}, {1, 2, 3, 4, 5, 6}, kI32)}, {{"axes", Ints{-1}}}}),
                {2, 1}, {6, 120});
}

TEST(OnnxReductions, ArgMaxTakesTheFirstOrTheLast) {
  const Given x = given({2, 4}, {1, 5, 5, 2, 7, 0, 7, 3});
  const Attributes axis{{"axis", int64_t{1}}, {"keepdims", int64_t{0}}};
  expect_tensor(run({"ArgMax", 13, {x}, axis}), {2}, {1, 0});
  expect_tensor(run({"ArgMin", 13, {x}, axis}), {2}, {0, 1});
  Attributes last = axis;
  last["select_last_index"] = int64_t{1};
  expect_tensor(run({"ArgMax", 13, {x}, last}), {2}, {2, 2});
  expect_tensor(run({"ArgMax", 13, {given({1, 4}, {1, kNan, 9, kNan})}, axis}), {1}, {1});
  expect_tensor(run({"ArgMax", 13, {given({1, 4}, {1, kNan, 9, kNan})}, last}), {1}, {3});
  EXPECT_EQ(run({"ArgMax", 13, {x}, axis}).dtype, kI64);
}

}  // namespace
}  // namespace tunesmith::operators_onnx
