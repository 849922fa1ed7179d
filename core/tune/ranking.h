// The final ranking: the best few measured again, interleaved, so that drift of the machine touches all
// alike.
#pragma once

#include <span>
#include <vector>

namespace tunesmith {

/// Median of samples and an interval that holds the true median with at least 95 % probability, whatever the
/// distribution: order statistics of the binomial distribution (with fewer than 6 samples, their whole
/// range).
struct MedianInterval {
  double median = 0.0;
  double low = 0.0;
  double high = 0.0;
};

/// `samples` not empty.
MedianInterval median_interval(std::span<const double> samples);

}  // namespace tunesmith
