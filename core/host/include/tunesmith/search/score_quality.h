// Cost-model accuracy: how well scores order measured programs. Each function takes as many scores
// as throughputs; higher is better for both, and a failure has throughput 0. Pure functions.
#pragma once

#include <cstddef>
#include <span>

#pragma GCC visibility push(default)
namespace tunesmith {

/// Spearman's rank correlation with averaged ties: 1 for the same
/// order, 0 for chance. 0 if one of the two is constant or empty.
double rank_correlation(std::span<const double> scores, std::span<const double> throughputs);

/// The share of pairs whose throughputs differ by at least the factor
/// `apart` that the scores order like the throughputs; equal scores
/// count half. 0.5 if there is no such pair. Takes quadratic time.
double pairs_in_order(std::span<const double> scores, std::span<const double> throughputs,
                      double apart = 1.0);

/// The best throughput among the `n` highest scores, divided by the best
/// of all; of equal scores the earlier counts. 0 if everything failed.
double best_of_first(std::span<const double> scores, std::span<const double> throughputs, size_t n);

}  // namespace tunesmith
#pragma GCC visibility pop
