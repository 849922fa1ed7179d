#include "tunesmith/verification/verify_outputs.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tunesmith/verification/tensor.h"

namespace tunesmith {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNaN = std::numeric_limits<double>::quiet_NaN();

Tensor tensor(const std::vector<double>& values) {
  Tensor result = Tensor::zeros(kF64, {2, static_cast<int64_t>(values.size()) / 2});
  std::memcpy(result.bytes.data(), values.data(), result.bytes.size());
  return result;
}

/// Elements of a 2 x n buffer O.
OutputDifference compare(const std::vector<float>& got, const std::vector<double>& wanted,
                         const std::vector<double>& bound) {
  const Buffer buffer = make_buffer("O", kF32, {2, static_cast<int64_t>(got.size()) / 2});
  const Tensor bounds = tensor(bound);
  const ExpectedOutput expected(buffer, tensor(wanted), &bounds);
  const OutputDifference result = expected.compare(got.data());
  // A copy made from the bytes compares the same.
  const OutputDifference again = ExpectedOutput(buffer, expected.bytes()).compare(got.data());
  EXPECT_EQ(again.worst, result.worst);
  EXPECT_EQ(again.message, result.message);
  return result;
}

TEST(ExpectedOutput, AnElementMayBeOffByItsBound) {
  const auto worst = [](double error, double bound) {
    return compare({0.0f, static_cast<float>(error)}, {0.0, 0.0}, {bound, bound}).worst;
  };
  EXPECT_EQ(worst(0.0, 4e-6), 0.0);
  EXPECT_NEAR(worst(3.9e-6, 4e-6), 0.975, 1e-6);
  EXPECT_GT(worst(4.1e-6, 4e-6), 1.0);
  EXPECT_GT(worst(4.1e-6, 1e-6), 4.0);
  EXPECT_GT(worst(1e-30, 0.0), 1.0) << "where nothing rounds nothing may differ";
  EXPECT_GT(worst(1e-38, 0.0), 1.0) << "a denormal for which zero was expected";
  EXPECT_LE(worst(1e-39, 0.0), 1.0) << "no float has the reciprocal";
}

TEST(ExpectedOutput, SaysWhereTheWorstElementIs) {
  const std::vector<double> bounds(6, 1e-6);
  const OutputDifference result = compare({1.0f, 2.0f, 3.5f, 4.0f, 9.0f, 6.0f}, {1, 2, 3, 4, 5, 6}, bounds);
  EXPECT_EQ(result.message, "O[1, 1] is 9, reference 5");
  EXPECT_NEAR(result.worst, 4e6, 1e3);
  EXPECT_EQ(compare({1.0f, 2.0f}, {1, 2}, {1e-6, 1e-6}).message, "");
}

// Four elements are compared at a time, the remaining ones singly.
TEST(ExpectedOutput, EveryPositionIsCompared) {
  for (size_t count = 2; count <= 12; count += 2) {
    const std::vector<double> wanted(count, 1.0);
    const std::vector<double> bounds(count, 1e-6);
    for (size_t wrong = 0; wrong < count; ++wrong) {
      std::vector<float> got(count, 1.0f);
      got[wrong] = 2.0f;
      EXPECT_NEAR(compare(got, wanted, bounds).worst, 1e6, 1e2) << wrong << " of " << count;
      got[wrong] = std::numeric_limits<float>::quiet_NaN();
      EXPECT_EQ(compare(got, wanted, bounds).worst, kInfinity) << wrong << " of " << count;
    }
  }
}

TEST(ExpectedOutput, WhatIsNotFiniteMustBeTheSame) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  const auto worst = [](float got, double wanted, double bound = 1.0) {
    return compare({got, 0.0f}, {wanted, 0.0}, {bound, 1.0}).worst;
  };
  EXPECT_EQ(worst(nan, 1.0), kInfinity) << "not written, or wrong";
  EXPECT_EQ(worst(inf, 1.0), kInfinity);
  EXPECT_EQ(worst(1.0f, kNaN), kInfinity);
  EXPECT_EQ(worst(1.0f, kInfinity), kInfinity);
  EXPECT_EQ(worst(-inf, kInfinity), kInfinity);
  for (const double bound : {0.0, 1.0, kInfinity, kNaN}) {
    EXPECT_EQ(worst(nan, kNaN, bound), 0.0);
    EXPECT_EQ(worst(inf, kInfinity, bound), 0.0);
  }
}

TEST(ExpectedOutput, EveryElementOfALongOneIsCompared) {
  const Buffer buffer = make_buffer("O", kBF16, {10001});
  Tensor wanted = Tensor::zeros(kF64, {10001});
  for (int64_t i = 0; i < 10001; ++i) wanted.set(i, static_cast<double>(i % 7));
  const ExpectedOutput expected(buffer, wanted, nullptr);
  Tensor got = Tensor::like(*buffer);
  for (int64_t i = 0; i < 10001; ++i) got.set(i, wanted.get(i));
  const std::unique_ptr<tunesmith_runtime_pool, void (*)(tunesmith_runtime_pool*)> pool(
      tunesmith_runtime_pool_create(3), tunesmith_runtime_pool_destroy);
  EXPECT_EQ(expected.compare(got.bytes.data(), pool.get()).worst, 0.0);
  for (const int64_t at : {0, 4095, 4096, 4097, 4098, 9999, 10000}) {
    Tensor wrong = got;
    wrong.set(at, got.get(at) + 0.0625);
    EXPECT_GT(expected.compare(wrong.bytes.data(), pool.get()).worst, 1.0) << at;
  }
}

TEST(ExpectedOutput, IntegersAreExact) {
  const Buffer buffer = make_buffer("O", kI32, {3});
  Tensor wanted = Tensor::like(*buffer);
  for (const int64_t i : {0, 1, 2})
    wanted.set_int(i, std::vector<int64_t>{1, -2, 1 << 30}[static_cast<size_t>(i)]);
  Tensor got = wanted;
  const ExpectedOutput expected(buffer, wanted, nullptr);
  EXPECT_EQ(expected.compare(got.bytes.data()).worst, 0.0);
  got.set_int(2, (1 << 30) + 1);
  const OutputDifference result = expected.compare(got.bytes.data());
  EXPECT_EQ(result.worst, kInfinity);
  EXPECT_EQ(result.message, "O[2] is 1073741825, reference 1073741824");
}

TEST(ExpectedOutput, IntegersMadeOfRoundedNumbersMayBeOffWhereTheBoundSaysSo) {
  const Buffer buffer = make_buffer("O", kI32, {2});
  Tensor wanted = Tensor::like(*buffer);
  wanted.set_int(0, 5);
  Tensor bound = Tensor::zeros(kF64, {2});
  bound.set(0, 1.0);
  const ExpectedOutput expected(buffer, wanted, &bound);
  Tensor got = wanted;
  got.set_int(0, 6);
  EXPECT_LE(expected.compare(got.bytes.data()).worst, 1.0);
  got.set_int(1, 1);
  EXPECT_GT(expected.compare(got.bytes.data()).worst, 1.0);
}

TEST(Looseness, IsTheBoundOfATypicalElementOverItsSize) {
  const Tensor bound = tensor({0.1, 0.1});
  EXPECT_NEAR(looseness(tensor({1.0, -3.0}), &bound), 0.1 / std::sqrt(5.0), 1e-12);
  EXPECT_NEAR(looseness(tensor({2.0, kInfinity}), &bound), 0.05, 1e-12) << "of what is finite";
  EXPECT_EQ(looseness(tensor({0.0, 0.0}), &bound), kInfinity) << "anything would do";
  EXPECT_EQ(looseness(tensor({0.0, 0.0}), nullptr), 0.0);
  const Tensor none = tensor({kNaN, 0.0});
  EXPECT_EQ(looseness(tensor({1.0, 1.0}), &none), kInfinity);
}

TEST(ExpectedOutputs, LieAsTheBufferSays) {
  const Buffer floats = make_buffer("f", kF32, {2, 2}, kScopeGlobal, false, {3, 1}),
               integers = make_buffer("i", kI32, {2, 2}, kScopeGlobal, false, {3, 1});
  Tensor wanted = Tensor::zeros(kF64, {2, 2}), whole = Tensor::like(*integers);
  for (int64_t i = 0; i < 4; ++i) {
    wanted.set(i, static_cast<double>(i));
    whole.set_int(i, i);
  }
  const ExpectedOutput of_floats(floats, wanted, &wanted);
  const float gap = std::numeric_limits<float>::quiet_NaN();
  EXPECT_LE(of_floats.compare(std::vector<float>{0, 1, gap, 2, 3}.data()).worst, 1.0);
  const OutputDifference wrong = of_floats.compare(std::vector<float>{0, 1, gap, 9, 3}.data());
  EXPECT_GT(wrong.worst, 1.0);
  EXPECT_THAT(wrong.message, ::testing::StartsWith("f[1, 0] is 9"));
  const ExpectedOutput exact(integers, whole, nullptr);
  EXPECT_TRUE(ExpectedOutput::fits(*integers, exact.bytes()));
  const ExpectedOutput again(integers, exact.bytes());
  EXPECT_EQ(again.compare(std::vector<int32_t>{0, 1, 8, 2, 3}.data()).worst, 0.0);
  EXPECT_GT(again.compare(std::vector<int32_t>{0, 1, 8, 2, 4}.data()).worst, 1.0);
}

}  // namespace
}  // namespace tunesmith
