#include "tunesmith/tuning/ranking.h"

#include <cmath>
#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "tunesmith/support/random.h"
#include "tunesmith/tuning/tuner.h"

namespace tunesmith {
namespace {

TEST(QuantileInterval, OneSampleHasNoInterval) {
  const std::vector<double> one{3.0};
  const QuantileInterval interval = quantile_interval(one, kTimeQuantile);
  EXPECT_EQ(interval.value, 3.0);
  EXPECT_FALSE(interval.low);
  EXPECT_FALSE(interval.high);
  EXPECT_EQ(interval.samples, 1u);
}

// A budget of ten seconds leaves few samples of kernels that take one second.
TEST(QuantileInterval, FewSamplesAreOpenBelow) {
  const std::vector<double> three{3.0, 1.0, 2.0};
  const QuantileInterval interval = quantile_interval(three, kTimeQuantile);
  EXPECT_EQ(interval.value, 1.0);
  EXPECT_FALSE(interval.low);
  EXPECT_EQ(interval.high, 2.0);  // 1.0 is below the true percentile with only 90 %
}

TEST(QuantileInterval, BothSidesAreKnownFromThirtySixSamplesOn) {
  std::vector<double> samples;
  for (int i = 0; i < kTwoSidedSamples; ++i) {
    samples.push_back(1.0 + i);
    EXPECT_EQ(quantile_interval(samples, kTimeQuantile).low.has_value(), i + 1 == kTwoSidedSamples) << i;
  }
  const QuantileInterval interval = quantile_interval(samples, kTimeQuantile);
  EXPECT_EQ(interval.low, 1.0);
  ASSERT_TRUE(interval.high);
  EXPECT_LT(*interval.high, 12.0);
  EXPECT_GE(TuneOptions{}.final_rounds, kTwoSidedSamples);
}

TEST(QuantileInterval, DisturbancesThatOnlyAddDoNotMoveIt) {
  std::vector<double> samples(20, 1.0);
  for (size_t i = 0; i < 9; ++i) samples[2 * i] = 50.0;
  EXPECT_EQ(quantile_interval(samples, kTimeQuantile).value, 1.0);
}

/// Realistic times, by inverse distribution: quantile -> time.
struct Distribution {
  const char* name;
  std::function<double(double)> time;
};

std::vector<Distribution> distributions() {
  return {{"uniform", [](double u) { return 1.0 + u; }},
          {"a floor and a long tail", [](double u) { return 1.0 - 0.1 * std::log(1.0 - u); }},
          {"no mean", [](double u) { return 1.0 + 0.01 * std::pow(1.0 - u, -1.5); }},
          {"two clock rates", [](double u) { return u < 0.12 ? 1.0 + 0.01 * u : 1.4 + 0.01 * u; }},
          {"steps of a coarse clock", [](double u) { return 1.0 + 0.05 * std::floor(10.0 * u * u); }}};
}

bool holds(const QuantileInterval& interval, double truth) {
  return (!interval.low || *interval.low <= truth) && (!interval.high || truth <= *interval.high);
}

class Coverage : public testing::TestWithParam<int> {};

// Measures the coverage at the rounds in use: in rankings of slow programs (2 to 20), in tuning (40) and in
// `tunesmith bench` (50). An earlier rule contained the percentile in 86.8 % of experiments at 20 rounds.
TEST_P(Coverage, IsAtLeastWhatIsPromised) {
  constexpr int kExperiments = 10000;
  for (const Distribution& distribution : distributions()) {
    RandomStream random(7);
    const double truth = distribution.time(kTimeQuantile);
    int held = 0;
    for (int experiment = 0; experiment < kExperiments; ++experiment) {
      std::vector<double> samples;
      for (int i = 0; i < GetParam(); ++i) samples.push_back(distribution.time(random.uniform()));
      held += holds(quantile_interval(samples, kTimeQuantile), truth) ? 1 : 0;
    }
    EXPECT_GE(held, kExperiments * 95 / 100) << distribution.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Rounds, Coverage, testing::Values(1, 2, 3, 5, 10, 20, 36, 40, 50, 100));

class CoverageOfTheFastest : public testing::TestWithParam<int> {};

// The fastest of five looks faster than it is, most of all when they are equal.
TEST_P(CoverageOfTheFastest, IsAtLeastWhatIsPromised) {
  constexpr int kExperiments = 2000;
  constexpr size_t kPrograms = 5;
  for (const Distribution& distribution : distributions()) {
    for (const double slower : {0.0, 0.002, 0.05}) {
      RandomStream random(11);
      int held = 0;
      for (int experiment = 0; experiment < kExperiments; ++experiment) {
        QuantileInterval best;
        double truth = 0.0;
        for (size_t program = 0; program < kPrograms; ++program) {
          const double scale = 1.0 + slower * static_cast<double>(program);
          std::vector<double> samples;
          for (int i = 0; i < GetParam(); ++i) samples.push_back(scale * distribution.time(random.uniform()));
          const QuantileInterval interval = quantile_interval(samples, kTimeQuantile, kPrograms);
          if (program > 0 && interval.value >= best.value) continue;
          best = interval;
          truth = scale * distribution.time(kTimeQuantile);
        }
        held += holds(best, truth) ? 1 : 0;
      }
      EXPECT_GE(held, kExperiments * 95 / 100) << distribution.name << ", " << slower;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Rounds, CoverageOfTheFastest, testing::Values(2, 3, 10, 20, 40));

// An interval that always contains the quantile would be too wide.
TEST(QuantileInterval, IsNotWiderThanItNeedsToBe) {
  RandomStream random(7);
  int held = 0;
  for (int experiment = 0; experiment < 4000; ++experiment) {
    std::vector<double> samples;
    for (int i = 0; i < 100; ++i) samples.push_back(random.uniform());
    held += holds(quantile_interval(samples, kTimeQuantile), kTimeQuantile) ? 1 : 0;
  }
  EXPECT_LT(held, 4000 * 98 / 100);
}

}  // namespace
}  // namespace tunesmith
