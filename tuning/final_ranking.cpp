#include "final_ranking.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "history.h"
#include "rank_leaders.h"
#include "tunesmith/measure/failure.h"
#include "tunesmith/measure/verifier_version.h"
#include "tunesmith/measuring/peak.h"
#include "tunesmith/support/contains.h"
#include "tunesmith/tuning/intervals.h"

namespace tunesmith {

std::vector<FinalRanking::Kept> FinalRanking::best_on_record(const TaskKey& task, TuneResult& result) const {
  constexpr size_t kLookedAt = 64;
  constexpr size_t kFoundSince = 2;  // programs from searches that were not ranked
  std::vector<Kept> best;
  std::vector<Record> known = store_.best({task, machine_, {}}, kLookedAt);
  const auto first = std::ranges::find(known, MeasurementKind::Ranking, &Record::kind);
  std::vector<std::string> of_intervals;
  if (first != known.end()) {
    const RecordsOfIntervals shipped = records_of_intervals(workload_.program, {first, known.end()});
    for (const RecordOfInterval& one : shipped.each) of_intervals.push_back(one.record->id);
  }
  bool has_ranked = false;
  for (Record& record : known) {
    const bool ranked = record.kind == MeasurementKind::Ranking;
    if (has_ranked ? !contains(of_intervals, record.id) : !ranked && best.size() >= kFoundSince) continue;
    CandidatePtr candidate = candidate_of(record, workload_, space_, names_);
    if (!candidate) {
      result.dropped.push_back({record.id, record.seconds, "its trace no longer gives its program"});
      continue;
    }
    best.push_back({{std::move(candidate), record.timing, std::nullopt}, std::move(record)});
    has_ranked = has_ranked || ranked;
  }
  return best;
}

void FinalRanking::rank(std::span<const Measured> leaders, std::set<uint64_t> unchecked,
                        const RecordedRun& run, const TaskKey& task, double seconds, TuneResult& result) {
  const std::vector<Kept> best = best_on_record(task, result);
  std::vector<Measured> contestants;
  std::set<uint64_t> kept;
  for (const Kept& one : best) {
    contestants.push_back(one.measured);
    kept.insert(one.measured.candidate->lowered_hash);
    if (one.record.verifier.value_or(0) < kVerifierVersion)
      unchecked.insert(one.measured.candidate->lowered_hash);
  }
  for (const Measured& one : leaders) {
    if (!kept.contains(one.candidate->lowered_hash)) contestants.push_back(one);
  }
  std::unordered_map<uint64_t, CandidateFailure> failures;
  contestants = checked(std::move(contestants), unchecked, failures, result);
  const auto staying = std::ranges::count_if(
      contestants, [&](const Measured& one) { return kept.contains(one.candidate->lowered_hash); });
  const PeakKernel peak = peak_kernel(space_, workload_.program, options_.measure_threads);
  LeadersRanking ranking = rank_leaders(contestants, static_cast<size_t>(staying), evaluator_, runner_, peak,
                                        {.rounds = options_.final_rounds, .budget_seconds = seconds});
  times_ = std::move(ranking.times);
  failures.merge(ranking.failures);
  for (const auto& [measured, record] : best) {
    const uint64_t hash = measured.candidate->lowered_hash;
    if (times_.contains(hash)) continue;
    const auto failure = failures.find(hash);
    result.dropped.push_back(
        {record.id, record.seconds,
         failure == failures.end()
             ? "the ranking ended before it was timed"
             : fmt::format("{}, {}", failure_cause_name(failure->second.cause), failure->second.message)});
  }
  if (ranking.peak_operations_per_second <= 0.0) return;
  const RecordedRoof beside{make_id(),
                            run.environment,
                            task.target,
                            task.threads,
                            task.device,
                            operations_roof(computed_type(workload_.program), peak.unit),
                            ranking.peak_operations_per_second,
                            now_ms(),
                            ranking.peak_disturbed};
  result.peak_beside = beside.per_second;
  store_.add_roof(beside);
  result.peak = store_.highest_roof(task, machine_, beside.quantity);
}

std::vector<Measured> FinalRanking::checked(std::vector<Measured> contestants,
                                            const std::set<uint64_t>& unchecked,
                                            std::unordered_map<uint64_t, CandidateFailure>& refused,
                                            TuneResult& result) {
  std::vector<CandidatePtr> old;
  for (const Measured& one : contestants) {
    if (unchecked.contains(one.candidate->lowered_hash)) old.push_back(one.candidate);
  }
  if (old.empty()) return contestants;
  for (const Measured& one : evaluator_.check_again(old)) {
    ++result.checked_again;
    if (!one.failure) continue;
    refused.emplace(one.candidate->lowered_hash, *one.failure);
    // A transient failure or a stop is no refusal; the program is just not ranked this time.
    if (!is_transient(one.failure->cause, true)) ++result.refused_again;
  }
  std::erase_if(contestants,
                [&](const Measured& one) { return refused.contains(one.candidate->lowered_hash); });
  return contestants;
}

std::optional<QuantileInterval> FinalRanking::time_of(uint64_t lowered_hash) const {
  const auto found = times_.find(lowered_hash);
  return found == times_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace tunesmith
