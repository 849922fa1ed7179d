#include "final_ranking.h"

#include <utility>
#include <vector>

#include "rank_leaders.h"
#include "tunesmith/measure/failure.h"
#include "tunesmith/measuring/peak.h"

namespace tunesmith {

void FinalRanking::rank(Leaders leaders, const KnownResults& known, const RecordedRun& run,
                        const TaskKey& task, TuneResult& result) {
  const DType type = workload_.program.outputs.front()->dtype;
  const PeakKernel peak = peak_kernel(space_, workload_.program, options_.measure_threads);
  LeadersRanking ranking = rank_leaders(checked(std::move(leaders), known, result), evaluator_, runner_, peak,
                                        options_.final_rounds);
  times_ = std::move(ranking.times);
  if (ranking.peak_operations_per_second <= 0.0) return;
  const RecordedRoof beside{make_id(),
                            run.environment,
                            task.target,
                            task.threads,
                            task.device,
                            operations_roof(type),
                            ranking.peak_operations_per_second,
                            now_ms(),
                            ranking.peak_disturbed};
  result.peak_beside = beside.per_second;
  result.peak = beside;
  // A unit's is no roof for what else has this type.
  if (!peak.unit.empty()) return;
  store_.add_roof(beside);
  result.peak = store_.highest_roof(task, machine_, beside.quantity);
}

Leaders FinalRanking::checked(Leaders leaders, const KnownResults& known, TuneResult& result) {
  std::vector<CandidatePtr> old;
  for (const Measured& one : leaders.all()) {
    if (known.is_unchecked(one.candidate->lowered_hash)) old.push_back(one.candidate);
  }
  if (old.empty()) return leaders;
  for (const Measured& one : evaluator_.check_again(old)) {
    ++result.checked_again;
    if (!one.failure) continue;
    leaders.remove(*one.candidate);
    // What a stop or the machine ended was not refused; it is not ranked this time.
    if (!is_transient(one.failure->cause, true)) ++result.refused_again;
  }
  return leaders;
}

std::optional<QuantileInterval> FinalRanking::time_of(uint64_t lowered_hash) const {
  const auto found = times_.find(lowered_hash);
  return found == times_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace tunesmith
