#include "rank_leaders.h"

#include <string>
#include <vector>

#include "rank.h"

namespace tunesmith {

LeadersRanking rank_leaders(std::span<const Measured> leaders, size_t kept, Evaluator& evaluator,
                            Runner& runner, const PeakKernel& peak, const InterleaveOptions& options) {
  std::vector<CandidatePtr> candidates;
  for (const Measured& leader : leaders) candidates.push_back(leader.candidate);
  LeadersRanking result;
  const std::vector<Built> built = evaluator.build(candidates);
  std::vector<const CompiledKernel*> kernels;
  std::vector<double> expected_seconds;
  std::vector<const Measured*> timed;
  std::vector<std::string> verified_on;
  size_t kept_timed = 0;
  for (size_t i = 0; i < built.size(); ++i) {
    if (!built[i].code) {
      result.failures.emplace(leaders[i].candidate->lowered_hash,
                              CandidateFailure{FailureCause::CompileError, built[i].code.error()});
      continue;
    }
    if (i < kept) ++kept_timed;
    kernels.push_back(&built[i].code->kernel);
    expected_seconds.push_back(leaders[i].timing->min);
    timed.push_back(&leaders[i]);
    verified_on.push_back(built[i].code->instance ? built[i].code->instance->key : "");
  }
  const MeasuringWatch watch = evaluator.measuring();
  const Ranking ranking = rank(runner, kernels, expected_seconds, kept_timed, peak, options);
  result.peak_operations_per_second = ranking.peak_operations_per_second;
  result.peak_disturbed = ranking.peak_disturbed;
  std::vector<Evaluator::Ranked> ranked;
  for (size_t i = 0; i < timed.size(); ++i) {
    const RankedKernel& kernel = ranking.kernels[i];
    // A stop or the machine's failure does not count against the program.
    if (kernel.failure) result.failures.emplace(timed[i]->candidate->lowered_hash, *kernel.failure);
    const bool wrong = kernel.failure && !is_transient(kernel.failure->cause, true);
    if (!kernel.time && !wrong) continue;
    ranked.push_back({.candidate = timed[i]->candidate,
                      .samples = kernel.samples,
                      .seconds = wrong ? 0.0 : kernel.time->value,
                      .prepare = timed[i]->timing->prepare,
                      .disturbed = kernel.disturbed,
                      .verified_on = verified_on[i],
                      .failure = wrong ? kernel.failure : std::nullopt,
                      .at = kernel.at});
    if (wrong) continue;
    result.times.emplace(timed[i]->candidate->lowered_hash, *kernel.time);
  }
  evaluator.record_ranking(ranked);
  return result;
}

}  // namespace tunesmith
