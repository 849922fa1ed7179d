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

/// The result for one kernel.
struct RankedKernel {
  std::vector<double> samples;                   // in order; empty if it failed
  std::optional<CandidateFailure> failure = {};  // why it left the ranking
  bool disturbed = false;                        // most samples were taken in disturbed moments
  /// By quiet_time(), if the kernel was in all rounds. Valid for the best one, too, although it was selected.
  std::optional<QuantileInterval> time;
  /// With each values of the program's parameters; empty without parameters, or without `time`.
  std::vector<TimeAt> at;
};

struct Ranking {
  std::vector<RankedKernel> kernels;  // in the order given
  std::optional<size_t> best;         // the fastest in all rounds; the first of equals
  /// At kTimeQuantile of the peak kernel's times; 0 when it was not measured.
  double peak_operations_per_second = 0.0;
  bool peak_disturbed = false;  // as RankedKernel::disturbed
};

/// The number of kernels in all rounds.
inline constexpr size_t kFinalists = 5;

/// Successive halving, since the smallest of a few samples of the search may be lucky: after a few rounds
/// the slower half is dropped, and the rest is timed in twice as many, until kFinalists are left for the
/// remainder of `options.rounds`. The first `kept` kernels are never dropped, nor is the fastest with some
/// values of a program's parameters. Another is faster than those kept only where it clearly is: else it gets
/// the time of the fastest of them. `expected_seconds`: of a call of each kernel, fastest first after those;
/// fewer slow kernels take part, so that halving stays within half of the budget. `peak` without operations
/// is not timed. Throws the runner's exceptions.
Ranking rank(Runner& runner, std::span<const CompiledKernel* const> kernels,
             std::span<const double> expected_seconds, size_t kept, const PeakKernel& peak,
             const InterleaveOptions& options);

}  // namespace tunesmith
