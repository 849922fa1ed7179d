#include "measure/verify_outputs.h"

#include <cmath>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "tunesmith/interp/tensor.h"

namespace tunesmith {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kUnit = 1e-6;

/// Elements of a 2 x n buffer O.
Comparison compare(const std::vector<float>& got, const std::vector<double>& wanted,
                   const std::vector<double>& magnitude) {
  const Buffer buffer = make_buffer("O", kF32, {2, static_cast<int64_t>(got.size()) / 2});
  return compare_output(*buffer, got.data(), wanted.data(), magnitude.data(), kUnit);
}

TEST(CompareOutput, TheToleranceIsTheUnitTimesTheMagnitude) {
  const auto worst = [](double error, double magnitude) {
    return compare({0.0f, static_cast<float>(error)}, {0.0, 0.0}, {magnitude, magnitude}).worst;
  };
  EXPECT_EQ(worst(0.0, 4.0), 0.0);
  EXPECT_NEAR(worst(3.9e-6, 4.0), 0.975, 1e-6);
  EXPECT_GT(worst(4.1e-6, 4.0), 1.0);
  EXPECT_GT(worst(4.1e-6, 1.0), 4.0);
  EXPECT_GT(worst(1e-3, 0.0), 1.0) << "where nothing is summed nothing may differ";
  EXPECT_LE(worst(1e-38, 0.0), 1.0) << "below the normal range";
}

TEST(CompareOutput, SaysWhereTheWorstElementIs) {
  const Comparison result =
      compare({1.0f, 2.0f, 3.5f, 4.0f, 9.0f, 6.0f}, {1, 2, 3, 4, 5, 6}, {1, 1, 1, 1, 1, 1});
  EXPECT_EQ(result.message, "O[1, 1] is 9, reference 5");
  EXPECT_NEAR(result.worst, 4e6, 1e3);
  EXPECT_EQ(compare({1.0f, 2.0f}, {1, 2}, {1, 1}).message, "");
}

TEST(CompareOutput, WhatIsNotFiniteMustBeTheSame) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  const auto worst = [](float got, double wanted) {
    return compare({got, 0.0f}, {wanted, 0.0}, {1, 1}).worst;
  };
  EXPECT_EQ(worst(nan, 1.0), kInfinity) << "not written, or wrong";
  EXPECT_EQ(worst(inf, 1.0), kInfinity);
  EXPECT_EQ(worst(1.0f, kNaN), kInfinity);
  EXPECT_EQ(worst(1.0f, kInfinity), kInfinity);
  EXPECT_EQ(worst(-inf, kInfinity), kInfinity);
  EXPECT_EQ(worst(nan, kNaN), 0.0);
  EXPECT_EQ(worst(inf, kInfinity), 0.0);
}

// An intermediate that overflows (exp of much, then clipped) has no finite magnitude; everything was
// accepted.
TEST(CompareOutput, AMagnitudeThatIsNotFiniteExcusesNothing) {
  for (const double magnitude : {kInfinity, kNaN}) {
    EXPECT_GT(compare({5.5f, 0.0f}, {5.0, 0.0}, {magnitude, magnitude}).worst, 1.0) << magnitude;
    EXPECT_GT(compare({5.0f, 0.1f}, {5.0, 0.0}, {magnitude, magnitude}).worst, 1.0) << magnitude;
    EXPECT_LE(compare({5.000001f, 0.0f}, {5.0, 0.0}, {magnitude, magnitude}).worst, 1.0) << magnitude;
  }
}

TEST(CompareOutput, IntegersAreExact) {
  const Buffer buffer = make_buffer("O", DType::parse("i32").value(), {3});
  const std::vector<int32_t> wanted{1, -2, 1 << 30};
  std::vector<int32_t> got = wanted;
  const std::vector<double> magnitude(3, 1e9);
  EXPECT_EQ(compare_output(*buffer, got.data(), wanted.data(), magnitude.data(), kUnit).worst, 0.0);
  ++got[2];
  const Comparison result = compare_output(*buffer, got.data(), wanted.data(), magnitude.data(), kUnit);
  EXPECT_EQ(result.worst, kInfinity);
  EXPECT_EQ(result.message, "O[2] is 1073741825, reference 1073741824");
}

}  // namespace
}  // namespace tunesmith
