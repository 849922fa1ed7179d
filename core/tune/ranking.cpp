#include "tunesmith/tune/ranking.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "tunesmith/support/error.h"

namespace tunesmith {

QuantileInterval quantile_interval(std::span<const double> samples, double quantile) {
  check_invariant(!samples.empty(), "an interval needs a sample");
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const auto n = static_cast<double>(sorted.size());
  // cumulative[k]: the probability that at most k samples lie below the true quantile. The k-th smallest lies
  // above it with that of at most k - 1, and below it with that of more than k.
  std::vector<double> cumulative;
  double term = std::pow(1.0 - quantile, n);
  double sum = 0.0;
  for (size_t k = 0; k < sorted.size(); ++k) {
    sum += term;
    cumulative.push_back(sum);
    term *= (n - static_cast<double>(k)) / (static_cast<double>(k) + 1.0) * quantile / (1.0 - quantile);
  }
  size_t low = 0;
  while (low + 1 < sorted.size() && cumulative[low + 1] <= 0.025) ++low;
  size_t high = 0;
  while (high + 1 < sorted.size() && cumulative[high] < 0.975) ++high;
  const auto at = static_cast<size_t>(std::lround(quantile * (n - 1.0)));
  return {sorted[at], sorted[std::min(low, at)], sorted[std::max(high, at)]};
}

}  // namespace tunesmith
