// Small statistics for comparing searches. Pure functions.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#pragma GCC visibility push(default)
namespace tunesmith {

struct Quartiles {
  double low = 0.0;
  double median = 0.0;
  double high = 0.0;
};

/// Interpolates linearly; `values` is not empty and may contain infinities ("never").
Quartiles quartiles(std::vector<double> values);

/// The geometric mean of positive numbers, at least one.
double geometric_mean(std::span<const double> values);

/// Wilcoxon's two-sided signed-rank test of paired differences.
struct SignedRank {
  size_t pairs = 0;      // number of pairs that differ
  double p_value = 1.0;  // two-sided; 1 if no pair differs
};
/// Exact for any number of pairs, also with ties: counts
/// the distribution over all signs, with averaged ranks.
SignedRank signed_rank(std::span<const double> differences);

}  // namespace tunesmith
#pragma GCC visibility pop
