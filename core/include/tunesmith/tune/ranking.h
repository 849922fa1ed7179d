// The final ranking: the best few measured again, interleaved, so that drift of the machine touches all
// alike.
#pragma once

#include <span>

namespace tunesmith {

/// A quantile of samples, and an interval that holds the true one with at least 95 % probability whatever the
/// distribution (order statistics of the binomial distribution), as far as the samples reach.
struct QuantileInterval {
  double value = 0.0;
  double low = 0.0;
  double high = 0.0;
};

/// Times are compared by their 10th percentile: on a shared machine disturbances only ever add, so the mean
/// and the median rank wrongly long after the low quantiles rank right.
inline constexpr double kTimeQuantile = 0.1;

/// `samples` not empty, `quantile` in (0, 1).
QuantileInterval quantile_interval(std::span<const double> samples, double quantile);

}  // namespace tunesmith
