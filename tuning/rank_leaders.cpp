#include "rank_leaders.h"

#include <string>
#include <vector>

#include "rank.h"

namespace tunesmith {

LeadersRanking rank_leaders(const Leaders& leaders, Evaluator& evaluator, Runner& runner,
                            const PeakKernel& peak, int rounds) {
  std::vector<CandidatePtr> candidates;
  for (const Measured& leader : leaders.all()) candidates.push_back(leader.candidate);
  const std::vector<Built> built = evaluator.build(candidates);
  std::vector<const CompiledKernel*> kernels;
  std::vector<double> expected_seconds;
  std::vector<const Measured*> timed;
  std::vector<std::string> verified_on;
  for (size_t i = 0; i < built.size(); ++i) {
    if (!built[i].code) continue;
    kernels.push_back(&built[i].code->kernel);
    expected_seconds.push_back(leaders.all()[i].timing->min);
    timed.push_back(&leaders.all()[i]);
    verified_on.push_back(built[i].code->instance ? built[i].code->instance->key : "");
  }
  const MeasuringWatch watch = evaluator.measuring();
  const Ranking ranking = rank(runner, kernels, expected_seconds, peak, {.rounds = rounds});
  LeadersRanking result;
  result.peak_operations_per_second = ranking.peak_operations_per_second;
  result.peak_disturbed = ranking.peak_disturbed;
  std::vector<Evaluator::Ranked> ranked;
  for (size_t i = 0; i < timed.size(); ++i) {
    const RankedKernel& kernel = ranking.kernels[i];
    // What a stop or the machine ended says nothing of the program.
    const bool wrong = kernel.failure && !is_transient(kernel.failure->cause, true);
    if (!kernel.time && !wrong) continue;
    ranked.push_back({.candidate = timed[i]->candidate,
                      .samples = kernel.samples,
                      .seconds = wrong ? 0.0 : kernel.time->value,
                      .prepare = timed[i]->timing->prepare,
                      .disturbed = kernel.disturbed,
                      .verified_on = verified_on[i],
                      .failure = wrong ? kernel.failure : std::nullopt});
    if (wrong) continue;
    result.times.emplace(timed[i]->candidate->lowered_hash, *kernel.time);
  }
  evaluator.record_ranking(ranked);
  return result;
}

}  // namespace tunesmith
