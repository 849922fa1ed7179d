// How well scores order what was measured. All take as many scores as throughputs, higher being better of
// both, with 0 as the throughput of a failure. Functions of their arguments alone.
#pragma once

#include <cstddef>
#include <span>

#pragma GCC visibility push(default)
namespace tunesmith {

/// Spearman's, equal values sharing their places: 1 in order, 0 as good as chance. 0 where one of the two is
/// constant, or nothing is given.
double rank_correlation(std::span<const double> scores, std::span<const double> throughputs);

/// Of all pairs whose throughputs differ by the factor `apart` and more, the share that the scores order as
/// the throughputs do; equal scores count half. 0.5 where there is no such pair. Takes time by the square of
/// their number.
double pairs_in_order(std::span<const double> scores, std::span<const double> throughputs,
                      double apart = 1.0);

/// The best throughput among the `n` with the highest scores, over the best of all; of equal scores the
/// earlier is taken. 0 where everything failed.
double best_of_first(std::span<const double> scores, std::span<const double> throughputs, size_t n);

}  // namespace tunesmith
#pragma GCC visibility pop
