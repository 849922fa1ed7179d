#include "run_operator.h"

namespace tunesmith::operators_onnx {
namespace {

std::vector<double> softmax_of(const std::vector<double>& x) {
  double sum = 0;
  for (const double each : x) sum += std::exp(each);
  std::vector<double> made;
  for (const double each : x) made.push_back(std::exp(each) / sum);
  return made;
}

/// (x - mean) / sqrt(variance + epsilon)
std::vector<double> standardized(const std::vector<double>& x, double epsilon) {
  double mean = 0, variance = 0;
  for (const double each : x) mean += each / static_cast<double>(x.size());
  for (const double each : x) variance += (each - mean) * (each - mean) / static_cast<double>(x.size());
  std::vector<double> made;
  for (const double each : x) made.push_back((each - mean) / std::sqrt(variance + epsilon));
  return made;
}

std::vector<double> part(const Given& x, int64_t first, int64_t count, int64_t step = 1) {
  std::vector<double> made;
  for (int64_t i = 0; i < count; ++i) made.push_back(x.value.get(first + i * step));
  return made;
}

std::vector<double> joined(std::vector<double> a, const std::vector<double>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

TEST(OnnxSoftmax, IsOverOneAxisFromVersion13On) {
  const Given x = drawn({2, 2, 2}, 1);
  const Tensor found = run({"Softmax", 13, {x}, {{"axis", int64_t{1}}}});
  for (const int64_t at : {0, 1, 4, 5}) {
    const std::vector<double> expected = softmax_of(part(x, at, 2, 2));
    EXPECT_NEAR(found.get(at), expected[0], 1e-12);
    EXPECT_NEAR(found.get(at + 2), expected[1], 1e-12);
  }
  expect_tensor(run({"Softmax", 13, {given({1, 2}, {1000, 1000})}}), {1, 2}, {0.5, 0.5});
}

TEST(OnnxSoftmax, IsOverAllLaterAxesBefore) {
  const Given x = drawn({2, 2, 2}, 1);
  const std::vector<double> expected = joined(softmax_of(part(x, 0, 4)), softmax_of(part(x, 4, 4)));
  expect_tensor(run({"Softmax", 11, {x}}), {2, 2, 2}, expected);
  std::vector<double> logarithms;
  for (const double each : expected) logarithms.push_back(std::log(each));
  expect_tensor(run({"LogSoftmax", 11, {x}}), {2, 2, 2}, logarithms, 1e-9);
}

TEST(OnnxSoftmax, HardmaxTakesTheFirstOfTheLargest) {
  expect_tensor(run({"Hardmax", 13, {given({2, 3}, {1, 3, 3, 2, 0, 1})}}), {2, 3}, {0, 1, 0, 1, 0, 0});
}

TEST(OnnxNormalizations, BatchNormalizationUsesWhatTheChannelsHave) {
  const Given x = given({1, 2, 2}, {1, 2, 3, 4});
  const Given scale = given({2}, {2, 3}), bias = given({2}, {0.5, 0.25}), mean = given({2}, {1.5, 2}),
              variance = given({2}, {4, 9});
  const Attributes exact{{"epsilon", 0.0}};
  expect_tensor(run({"BatchNormalization", 15, {x, scale, bias, mean, variance}, exact}), {1, 2, 2},
                {0, 1, 1.25, 2.25});
  EXPECT_THAT(
      refusal_of(
          {"BatchNormalization", 15, {x, scale, bias, mean, variance}, {{"training_mode", int64_t{1}}}}),
      testing::HasSubstr("training"));
  EXPECT_THAT(refusal_of({"BatchNormalization", 9, {x, scale, bias, mean, variance}, {}, 3}),
              testing::HasSubstr("output 'mean'"));
  EXPECT_THAT(refusal_of({"BatchNormalization", 15, {x, given({1}, {1}), bias, mean, variance}}),
              testing::HasSubstr("one value for each channel"));
}

TEST(OnnxNormalizations, LayerNormalizationGivesItsMomentsToo) {
  const Given x = drawn({2, 2, 3}, 1);
  const auto outputs = run_all({"LayerNormalization",
                                17,
                                {x, given({2, 3}, {1, 1, 1, 1, 1, 2}), given({}, {10})},
                                {{"axis", int64_t{1}}, {"epsilon", 0.5}},
                                3});
  for (const int64_t row : {0, 1}) {
    const std::vector<double> values = part(x, row * 6, 6);
    const std::vector<double> expected = standardized(values, 0.5);
    EXPECT_NEAR(outputs[0].get(row * 6 + 1), expected[1] + 10, 1e-12);
    EXPECT_NEAR(outputs[0].get(row * 6 + 5), 2 * expected[5] + 10, 1e-12);
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / 6;
    EXPECT_NEAR(outputs[1].get(row), mean, 1e-12);
    EXPECT_NEAR(outputs[2].get(row), expected[0] / (values[0] - mean), 1e-12);
  }
  EXPECT_EQ(outputs[1].shape, (Ints{2, 1, 1}));
}

TEST(OnnxNormalizations, InstancesAndGroupsHaveMomentsOfTheirOwn) {
  const Given x = drawn({1, 4, 3}, 1);
  const Given ones = given({4}, {1, 1, 1, 1}), zeros = given({4}, {0, 0, 0, 0});
  const Attributes epsilon{{"epsilon", 0.5}};
  std::vector<double> expected;
  for (const int64_t channel : {0, 1, 2, 3})
    expected = joined(expected, standardized(part(x, channel * 3, 3), 0.5));
  expect_tensor(run({"InstanceNormalization", 6, {x, ones, zeros}, epsilon}), {1, 4, 3}, expected);
  Attributes groups = epsilon;
  groups["num_groups"] = int64_t{2};
  const std::vector<double> by_group =
      joined(standardized(part(x, 0, 6), 0.5), standardized(part(x, 6, 6), 0.5));
  const Tensor of_channels = run({"GroupNormalization", 21, {x, given({4}, {1, 2, 1, 1}), zeros}, groups});
  EXPECT_NEAR(of_channels.get(0), by_group[0], 1e-12);
  EXPECT_NEAR(of_channels.get(4), 2 * by_group[4], 1e-12);
  const Tensor of_groups =
      run({"GroupNormalization", 18, {x, given({2}, {1, 2}), given({2}, {0, 5})}, groups});
  EXPECT_NEAR(of_groups.get(4), by_group[4], 1e-12);
  EXPECT_NEAR(of_groups.get(7), 2 * by_group[7] + 5, 1e-12);
}

TEST(OnnxNormalizations, RowsAreDividedByTheirSize) {
  expect_tensor(
      run({"RMSNormalization", 23, {given({1, 2}, {3, 4}), given({2}, {1, 2})}, {{"epsilon", 0.0}}}), {1, 2},
      {3 / std::sqrt(12.5), 8 / std::sqrt(12.5)});
  expect_tensor(run({"LpNormalization", 1, {given({2, 2}, {3, -4, 0, 0})}}), {2, 2}, {0.6, -0.8, 0, 0});
  expect_tensor(run({"LpNormalization", 1, {given({1, 2}, {3, -1})}, {{"p", int64_t{1}}}}), {1, 2},
                {0.75, -0.25});
  const Given x = drawn({1, 1, 2, 2}, 1);
  expect_tensor(run({"MeanVarianceNormalization", 13, {x}}), {1, 1, 2, 2},
                standardized(values_of(x.value), 0), 1e-6);
}

}  // namespace
}  // namespace tunesmith::operators_onnx
