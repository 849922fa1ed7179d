#include "tunesmith/tune/ranking.h"

#include <vector>

#include <gtest/gtest.h>

#include "tunesmith/support/random.h"

namespace tunesmith {
namespace {

TEST(QuantileInterval, OneSampleIsItsOwnInterval) {
  const std::vector<double> one{3.0};
  const QuantileInterval interval = quantile_interval(one, 0.1);
  EXPECT_EQ(interval.value, 3.0);
  EXPECT_EQ(interval.low, 3.0);
  EXPECT_EQ(interval.high, 3.0);
}

TEST(QuantileInterval, DisturbancesThatOnlyAddDoNotMoveIt) {
  std::vector<double> samples(20, 1.0);
  for (size_t i = 0; i < 9; ++i) samples[2 * i] = 50.0;
  EXPECT_EQ(quantile_interval(samples, 0.1).value, 1.0);
}

// The interval's promise, by experiment: it holds the true quantile in at least 95 % of experiments, wherever
// the low end is reachable.
TEST(QuantileInterval, HoldsTheTrueQuantileAsOftenAsItPromises) {
  RandomStream random(7);
  int held = 0;
  constexpr int kExperiments = 4000;
  for (int experiment = 0; experiment < kExperiments; ++experiment) {
    std::vector<double> samples;
    for (int i = 0; i < 60; ++i) samples.push_back(random.uniform());
    const QuantileInterval interval = quantile_interval(samples, 0.1);
    held += interval.low <= 0.1 && 0.1 <= interval.high ? 1 : 0;
  }
  EXPECT_GE(held, kExperiments * 95 / 100);
  EXPECT_LT(held, kExperiments);  // an interval that always holds would be the whole range
}

}  // namespace
}  // namespace tunesmith
