#include "tunesmith/tuning/quiet_samples.h"

#include <functional>
#include <vector>

#include <gtest/gtest.h>

#include "tunesmith/support/random.h"

namespace tunesmith {
namespace {

constexpr size_t kRounds = 40;

/// A round's effect on all kernels, at position `u` in [0, 1) of the rounds.
using Level = std::function<double(double u, RandomStream& random)>;

struct Disturbance {
  const char* name;
  Level level;
  double spikes;  // the share of samples that something else lengthens
};

std::vector<Disturbance> disturbances() {
  return {{"none", [](double, RandomStream&) { return 1.0; }, 0.0},
          {"a clock that falls", [](double u, RandomStream&) { return 1.0 + 0.2 * u; }, 0.25},
          {"a clock that rises", [](double u, RandomStream&) { return 1.2 - 0.2 * u; }, 0.25},
          {"a rare fast rate of the clock",
           [](double, RandomStream& random) { return random.uniform() < 0.1 ? 0.84 : 1.0; }, 0.3},
          {"a rare slow rate",
           [](double, RandomStream& random) { return random.uniform() < 0.3 ? 1.5 : 1.0; }, 0.3},
          {"spikes alone", [](double, RandomStream&) { return 1.0; }, 0.5}};
}

/// The samples of kernels with these `seconds`, timed in turn on a disturbed machine.
std::vector<std::vector<double>> timed(const std::vector<double>& seconds, const Disturbance& how,
                                       RandomStream& random) {
  std::vector<std::vector<double>> samples(seconds.size());
  for (size_t round = 0; round < kRounds; ++round) {
    const double level = how.level(static_cast<double>(round) / kRounds, random);
    for (size_t kernel = 0; kernel < seconds.size(); ++kernel) {
      const double spike = random.uniform() < how.spikes ? 1.0 + 5.0 * random.uniform() : 1.0;
      samples[kernel].push_back(seconds[kernel] * level * spike * (1.0 + 0.005 * random.uniform()));
    }
  }
  return samples;
}

std::vector<std::vector<double>> quiet(const std::vector<std::vector<double>>& samples) {
  return quiet_samples({samples.begin(), samples.end()});
}

double low(const std::vector<double>& samples) { return quantile_interval(samples, kTimeQuantile).value; }

/// In how many of 400 rankings of kernels 4 % apart is the first not the fastest?
int wrong_orders(const Disturbance& how, bool by_levels) {
  RandomStream random(3);
  int wrong = 0;
  for (int experiment = 0; experiment < 400; ++experiment) {
    std::vector<std::vector<double>> samples = timed({1.0, 1.04, 1.08, 1.04, 1.1}, how, random);
    if (by_levels) samples = quiet(samples);
    for (size_t kernel = 1; kernel < samples.size(); ++kernel) {
      if (low(samples[kernel]) > low(samples[0])) continue;
      ++wrong;
      break;
    }
  }
  return wrong;
}

TEST(QuietSamples, OrderKernelsWhateverTheMachineDoes) {
  for (const Disturbance& how : disturbances()) EXPECT_LE(wrong_orders(how, true), 20) << how.name;
}

// Otherwise, quiet moments of one kernel are compared with disturbed ones of another.
TEST(QuietSamples, AreBetterThanTheSamplesAsTaken) {
  int of_quiet = 0;
  int of_taken = 0;
  for (const Disturbance& how : disturbances()) {
    of_quiet += wrong_orders(how, true);
    of_taken += wrong_orders(how, false);
  }
  EXPECT_LT(4 * of_quiet, of_taken);
}

TEST(QuietSamples, AreSecondsOfQuietRounds) {
  for (const Disturbance& how : disturbances()) {
    RandomStream random(5);
    const std::vector<std::vector<double>> samples = timed({1e-6, 2e-6, 3e-6}, how, random);
    for (size_t kernel = 0; kernel < samples.size(); ++kernel)
      EXPECT_NEAR(low(quiet(samples)[kernel]) / low(samples[kernel]), 1.0, 0.3) << how.name;
  }
}

TEST(QuietSamples, AKernelWithoutSamplesHasNone) {
  const std::vector<std::vector<double>> result = quiet({{}, {2.0, 4.0, 2.0}, {3.0, 6.0}});
  EXPECT_TRUE(result[0].empty());
  EXPECT_EQ(result[1], (std::vector<double>{2.0, 2.0}));
  EXPECT_EQ(result[2], (std::vector<double>{3.0, 3.0}));
  EXPECT_TRUE(quiet({{}, {}})[1].empty());
  EXPECT_TRUE(quiet({}).empty());
}

TEST(QuietTime, HasTheIntervalOfTheSamplesAsTaken) {
  std::vector<double> alone(kRounds);
  for (size_t i = 0; i < kRounds; ++i) alone[i] = 1.0 + 0.1 * static_cast<double>(i);
  const std::vector<std::vector<double>> result = quiet({alone});
  const QuantileInterval time = quiet_time(alone, result[0]);
  const QuantileInterval taken = quantile_interval(alone, kTimeQuantile);
  EXPECT_DOUBLE_EQ(time.value, taken.value);
  EXPECT_EQ(time.low, taken.low);
  EXPECT_EQ(time.high, taken.high);
}

}  // namespace
}  // namespace tunesmith
