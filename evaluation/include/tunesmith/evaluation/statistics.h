// Small statistics of searches that are compared with each other. All functions are pure.
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

/// Interpolated between the two nearest values; `values` not empty, may hold infinities ("never").
Quartiles quartiles(std::vector<double> values);

/// Of numbers above 0, at least one.
double geometric_mean(std::span<const double> values);

/// Wilcoxon's signed-rank test of differences between pairs, two-sided.
struct SignedRank {
  size_t pairs = 0;      // without those that do not differ, which say nothing
  double p_value = 1.0;  // of a difference at least this one-sided by chance; 1 where no pair differs
};
/// Exact for any number of pairs, also where differences tie: the distribution over all signs is counted
/// out, with tied ranks averaged.
SignedRank signed_rank(std::span<const double> differences);

}  // namespace tunesmith
#pragma GCC visibility pop
