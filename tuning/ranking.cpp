#include "tunesmith/tuning/ranking.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include <boost/math/distributions/binomial.hpp>

#include "tunesmith/support/error.h"

namespace tunesmith {

QuantileInterval quantile_interval(std::span<const double> samples, double quantile, size_t chosen_from) {
  check_invariant(!samples.empty() && chosen_from > 0, "an interval needs a sample");
  constexpr double kMiss = 0.05;
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const size_t n = sorted.size();
  QuantileInterval interval;
  interval.samples = n;
  interval.value = sorted[static_cast<size_t>(std::lround(quantile * static_cast<double>(n - 1)))];

  // The number of samples below the true quantile is binomial. sorted[k] is
  // above it if at most k samples are below it, and below it if more than k are.
  const boost::math::binomial below(static_cast<double>(n), quantile);
  size_t low = 0;
  while (low < n && cdf(below, static_cast<double>(low)) <= kMiss / 2) ++low;
  if (low > 0) interval.low = sorted[low - 1];
  // The fastest of several probably looks too fast: any of them may err
  // upwards, whereas only its own chance puts its lowest sample too high.
  const double miss_above = (interval.low ? kMiss / 2 : kMiss) / static_cast<double>(chosen_from);
  size_t high = 0;
  while (high < n && cdf(complement(below, static_cast<double>(high))) > miss_above) ++high;
  if (high < n) interval.high = sorted[high];
  return interval;
}

}  // namespace tunesmith
