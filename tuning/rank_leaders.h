// The final ranking of a run: its fastest programs built and timed again, and put on record.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>

#include "evaluator.h"
#include "tunesmith/measure/runner.h"
#include "tunesmith/tuning/ranking.h"

namespace tunesmith {

struct PeakKernel;

struct LeadersRanking {
  // By lowered hash; never iterated.
  std::unordered_map<uint64_t, QuantileInterval> times;     // of those in all rounds
  std::unordered_map<uint64_t, CandidateFailure> failures;  // of those that could not be timed
  double peak_operations_per_second = 0.0;                  // 0 when the peak kernel was not measured
  bool peak_disturbed = false;
};

/// Calls rank() and records the results. All `leaders` have a time; the
/// first `kept` stay in all rounds. Throws the runner's exceptions.
LeadersRanking rank_leaders(std::span<const Measured> leaders, size_t kept, Evaluator& evaluator,
                            Runner& runner, const PeakKernel& peak, const InterleaveOptions& options);

}  // namespace tunesmith
