// The final ranking: the best of the search timed again, in turn with the target's peak kernel, if it has
// one.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tunesmith/measure/runner.h"
#include "tunesmith/tuning/ranking.h"

namespace tunesmith {

struct PeakKernel;

/// What one kernel took.
struct RankedKernel {
  std::vector<double> samples;                   // in the order taken; empty when it failed
  std::optional<CandidateFailure> failure = {};  // why it left the ranking
  bool disturbed = false;  // most of them were taken while something else used the machine
  /// Of its samples, at kTimeQuantile, when it was in all rounds. What it says holds of the best one, too,
  /// though it was chosen.
  std::optional<QuantileInterval> time;
};

struct Ranking {
  std::vector<RankedKernel> kernels;  // in the order given
  std::optional<size_t> best;         // the fastest of those in all rounds; the first of equals
  /// At kTimeQuantile of the peak kernel's times; 0 when it was not measured.
  double peak_operations_per_second = 0.0;
  bool peak_disturbed = false;  // as RankedKernel::disturbed
};

/// So many stay in all rounds.
inline constexpr size_t kFinalists = 5;

/// By successive halving: a time of the search is the smallest of many, and lucky. After a few rounds the
/// slower half is let go, again and again, and the rest is timed in twice as many, until kFinalists are left
/// for what remains of `options.rounds`. The first `kept` kernels are never let go. `expected_seconds`: of a
/// call of each kernel, fastest first behind those; of slow kernels fewer take part, so that halving stays
/// within half of the budget. `peak` without operations is not timed. Throws what the runner throws.
Ranking rank(Runner& runner, std::span<const CompiledKernel* const> kernels,
             std::span<const double> expected_seconds, size_t kept, const PeakKernel& peak,
             const InterleaveOptions& options);

}  // namespace tunesmith
