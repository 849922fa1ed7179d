// The final ranking of a run: its fastest programs built and timed again, and put on record.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "evaluator.h"
#include "leaders.h"
#include "tunesmith/measure/runner.h"
#include "tunesmith/tuning/ranking.h"

namespace tunesmith {

struct PeakKernel;

struct LeadersRanking {
  std::unordered_map<uint64_t, QuantileInterval> times;  // by lowered hash, of those in all rounds
  double peak_operations_per_second = 0.0;               // 0 when the peak kernel was not measured
  bool peak_disturbed = false;
};

/// As rank() does, with what it measured recorded by the evaluator. Throws what the runner throws.
LeadersRanking rank_leaders(const Leaders& leaders, Evaluator& evaluator, Runner& runner,
                            const PeakKernel& peak, int rounds);

}  // namespace tunesmith
