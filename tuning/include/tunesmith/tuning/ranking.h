// Statistics of repeated times of one program: a low quantile and its confidence interval.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#pragma GCC visibility push(default)
namespace tunesmith {

/// A quantile of samples, with a confidence interval of at least 95 % for any
/// distribution of independent samples (order statistics). A side that needs
/// more samples is absent; the other side alone then holds with at least 95 %.
struct QuantileInterval {
  double value = 0.0;
  std::optional<double> low;
  std::optional<double> high;
  size_t samples = 0;
};

/// Times are compared by their 10th percentile: disturbances on a shared machine only
/// lengthen times, so low quantiles still rank correctly when mean and median do not.
inline constexpr double kTimeQuantile = 0.1;

/// From this number of samples on, the interval of kTimeQuantile has both sides.
inline constexpr int kTwoSidedSamples = 36;

/// `samples` is not empty, `quantile` in (0, 1). `chosen_from`: the number of programs of which this
/// one is the fastest, which makes its samples look too fast; the upper side accounts for that.
QuantileInterval quantile_interval(std::span<const double> samples, double quantile, size_t chosen_from = 1);

}  // namespace tunesmith
#pragma GCC visibility pop
