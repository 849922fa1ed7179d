#include "tune/ranking.h"

#include <algorithm>
#include <cmath>

#include "tunesmith/support/error.h"

namespace tunesmith {

MedianInterval median_interval(std::span<const double> samples) {
  check_invariant(!samples.empty(), "an interval needs a sample");
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const size_t n = sorted.size();
  MedianInterval result;
  result.median = n % 2 == 1 ? sorted[n / 2] : 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]);
  // [x(k), x(n-1-k)] misses the median with probability 2 * P(Binomial(n, 1/2) <= k).
  size_t k = 0;
  double term = std::pow(0.5, static_cast<double>(n));
  double tail = term;
  while (k + 1 < n / 2) {
    term *= static_cast<double>(n - k) / static_cast<double>(k + 1);
    if (2.0 * (tail + term) > 0.05) break;
    tail += term;
    ++k;
  }
  result.low = sorted[k];
  result.high = sorted[n - 1 - k];
  return result;
}

}  // namespace tunesmith
