#include "tunesmith/tuning/quiet_samples.h"

#include <algorithm>
#include <limits>

namespace tunesmith {
namespace {

/// This quantile lies in the clock's usual rate; a rare rate may decide about kTimeQuantile.
constexpr double kFirstGuess = 0.25;
/// Passes that estimate levels from times and times from levels; further ones change nothing.
constexpr int kPasses = 2;

double quantile(std::span<const double> samples, double of) { return quantile_interval(samples, of).value; }

}  // namespace

std::vector<std::vector<double>> quiet_samples(const std::vector<std::span<const double>>& samples) {
  std::vector<size_t> timed;
  size_t rounds = std::numeric_limits<size_t>::max();
  for (size_t kernel = 0; kernel < samples.size(); ++kernel) {
    if (samples[kernel].empty()) continue;
    timed.push_back(kernel);
    rounds = std::min(rounds, samples[kernel].size());
  }
  std::vector<std::vector<double>> quiet(samples.size());
  if (timed.empty()) return quiet;
  std::vector<double> times(samples.size());
  for (const size_t kernel : timed) {
    const std::span<const double> common = samples[kernel].first(rounds);
    quiet[kernel].assign(common.begin(), common.end());
    times[kernel] = quantile(common, kFirstGuess);
  }
  std::vector<double> levels(rounds);
  const auto divide_by_levels = [&] {
    for (const size_t kernel : timed)
      std::transform(levels.begin(), levels.end(), samples[kernel].begin(), quiet[kernel].begin(),
                     [](double level, double sample) { return sample / level; });
  };
  for (int pass = 0; pass < kPasses; ++pass) {
    for (size_t round = 0; round < rounds; ++round) {
      levels[round] = std::numeric_limits<double>::infinity();
      for (const size_t kernel : timed)
        levels[round] = std::min(levels[round], samples[kernel][round] / times[kernel]);
    }
    divide_by_levels();
    for (const size_t kernel : timed) times[kernel] = quantile(quiet[kernel], kTimeQuantile);
  }
  double of_quiet_rounds = quantile(levels, kTimeQuantile);
  for (const size_t kernel : timed)  // each kernel has a sample as short as its time
    of_quiet_rounds = std::max(of_quiet_rounds, std::ranges::min(samples[kernel]) / times[kernel]);
  for (double& level : levels) level /= of_quiet_rounds;
  divide_by_levels();
  return quiet;
}

QuantileInterval quiet_time(std::span<const double> samples, std::span<const double> quiet,
                            size_t chosen_from) {
  QuantileInterval time = quantile_interval(samples, kTimeQuantile, chosen_from);
  const auto [least, most] = std::ranges::minmax(samples);
  time.value = std::clamp(quantile_interval(quiet, kTimeQuantile).value, least, most);
  if (time.low) time.low = std::min(*time.low, time.value);
  if (time.high) time.high = std::max(*time.high, time.value);
  return time;
}

}  // namespace tunesmith
