// The final ranking: the best few timed again, in turn with the target's peak kernel.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tunesmith/measure/runner.h"
#include "tunesmith/tune/ranking.h"

namespace tunesmith {

/// What one kernel took.
struct RankedKernel {
  std::vector<double> samples;  // in the order taken; empty when it failed
  bool disturbed = false;       // most of them were taken while something else used the machine
  /// Of its samples, at kTimeQuantile. What it says holds of the best one, too, though it was chosen.
  std::optional<QuantileInterval> time;
};

struct Ranking {
  std::vector<RankedKernel> kernels;  // in the order given
  std::optional<size_t> best;         // the fastest one; the first of equals
  /// At kTimeQuantile of the peak kernel's times; 0 when it was not measured.
  double peak_operations_per_second = 0.0;
};

/// Throws what the runner throws.
Ranking rank(Runner& runner, std::span<const CompiledKernel* const> kernels, const PeakKernel& peak,
             const InterleaveOptions& options);

}  // namespace tunesmith
