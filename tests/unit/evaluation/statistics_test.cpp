#include "tunesmith/evaluation/statistics.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace tunesmith {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

TEST(Quartiles, LieBetweenTheNearestValues) {
  const Quartiles four = quartiles({4.0, 1.0, 3.0, 2.0});
  EXPECT_DOUBLE_EQ(four.low, 1.75);
  EXPECT_DOUBLE_EQ(four.median, 2.5);
  EXPECT_DOUBLE_EQ(four.high, 3.25);
  EXPECT_DOUBLE_EQ(quartiles({7.0}).low, 7.0);
}

TEST(Quartiles, NeverIsMoreThanAnyNumber) {
  const Quartiles half = quartiles({1.0, 2.0, kInfinity, kInfinity, kInfinity});
  EXPECT_DOUBLE_EQ(half.low, 2.0);
  EXPECT_EQ(half.median, kInfinity);
  EXPECT_EQ(half.high, kInfinity);
  EXPECT_EQ(quartiles({1.0, kInfinity}).median, kInfinity);
}

TEST(GeometricMean, IsTheRootOfTheProduct) {
  const double values[] = {1.0, 4.0, 2.0};
  EXPECT_DOUBLE_EQ(geometric_mean(values), 2.0);
}

TEST(SignedRank, OfFiveRisesIsTwoSignsInThirtyTwo) {
  const double differences[] = {0.1, 0.2, 0.3, 0.4, 0.5};
  const SignedRank test = signed_rank(differences);
  EXPECT_EQ(test.pairs, 5U);
  EXPECT_DOUBLE_EQ(test.p_value, 2.0 / 32.0);
}

TEST(SignedRank, GivesThePublishedValue) {
  // Hollander and Wolfe (1973), table 3.1, as R's wilcox.test() has it: V = 40, p = 0.03906.
  const double before[] = {1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30};
  const double after[] = {0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29};
  std::vector<double> differences;
  for (size_t i = 0; i < std::size(before); ++i) differences.push_back(before[i] - after[i]);
  EXPECT_NEAR(signed_rank(differences).p_value, 0.0390625, 1e-12);
}

TEST(SignedRank, TiesShareTheirRanks) {
  // Ranks 2, 2, 2 and 4: the sum of the positive ones is 6, the middle of its sixteen values.
  const double differences[] = {1.0, 1.0, 1.0, -3.0};
  EXPECT_DOUBLE_EQ(signed_rank(differences).p_value, 1.0);
  // All positive: one of sixteen on each side.
  const double rising[] = {1.0, 1.0, 1.0, 3.0};
  EXPECT_DOUBLE_EQ(signed_rank(rising).p_value, 2.0 / 16.0);
  // The 4 and two of the others: 8 and more are four of sixteen.
  const double mixed[] = {1.0, 1.0, -1.0, 3.0};
  EXPECT_DOUBLE_EQ(signed_rank(mixed).p_value, 8.0 / 16.0);
}

TEST(SignedRank, WithoutDifferencesSaysNothing) {
  const double differences[] = {0.0, 0.0};
  EXPECT_EQ(signed_rank(differences).pairs, 0U);
  EXPECT_DOUBLE_EQ(signed_rank(differences).p_value, 1.0);
}

TEST(SignedRank, CountsMuchAsTheNormalDistributionDoes) {
  std::vector<double> differences;
  for (int i = 1; i <= 100; ++i) differences.push_back(i % 3 == 0 ? -i : i);
  double positive = 0.0;
  for (const double difference : differences) positive += difference > 0 ? difference : 0.0;
  const double deviation = std::sqrt(100.0 * 101.0 * 201.0 / 24.0);
  const double z = (positive - 0.5 - 100.0 * 101.0 / 4.0) / deviation;
  EXPECT_NEAR(signed_rank(differences).p_value, std::erfc(z / std::sqrt(2.0)), 5e-4);
}

}  // namespace
}  // namespace tunesmith
