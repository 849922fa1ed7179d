// What repeated times of one program say: a low quantile, and how surely it is known.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#pragma GCC visibility push(default)
namespace tunesmith {

/// A quantile of samples, and the range that holds the true one with at least 95 % probability, whatever the
/// distribution, when samples are independent (order statistics). A side that so few samples cannot bound is
/// absent: then the other side alone holds with at least 95 %.
struct QuantileInterval {
  double value = 0.0;
  std::optional<double> low;
  std::optional<double> high;
  size_t samples = 0;
};

/// Times are compared by their 10th percentile: on a shared machine disturbances only ever add, so the mean
/// and the median rank wrongly long after the low quantiles rank right.
inline constexpr double kTimeQuantile = 0.1;

/// From so many samples on the interval of kTimeQuantile has both sides.
inline constexpr int kTwoSidedSamples = 36;

/// `samples` not empty, `quantile` in (0, 1). `chosen_from`: how many programs' samples these are the fastest
/// of, which makes them look faster than they are; the upper side allows for it.
QuantileInterval quantile_interval(std::span<const double> samples, double quantile, size_t chosen_from = 1);

}  // namespace tunesmith
#pragma GCC visibility pop
