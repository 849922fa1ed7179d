#include "expectations.h"

#include "evaluate_scores.h"

namespace tunesmith {

Expectations::Expectations(const Searcher& searcher, std::span<const CandidatePtr> proposed) {
  const std::vector<double> expected = searcher.expected();
  for (size_t i = 0; i < expected.size(); ++i) expected_[proposed[i]->lowered_hash] = expected[i];
}

std::optional<ModelBatch> Expectations::evaluate_model(std::span<const Measured> results,
                                                       int64_t trials) const {
  if (expected_.empty() || results.size() < kMinEvaluated) return std::nullopt;
  std::vector<double> scores;
  std::vector<double> throughputs;
  for (const Measured& one : results) {
    scores.push_back(expected_.at(one.candidate->lowered_hash));
    throughputs.push_back(one.timing ? 1.0 / one.timing->min : 0.0);
  }
  ModelBatch batch = evaluate_scores(scores, throughputs);
  batch.trials = trials;
  return batch;
}

}  // namespace tunesmith
