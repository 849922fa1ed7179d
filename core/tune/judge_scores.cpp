#include "tune/judge_scores.h"

#include <algorithm>
#include <cmath>

#include "tunesmith/search/score_quality.h"

namespace tunesmith {

ModelBatch judge_scores(std::span<const double> scores, std::span<const double> throughputs) {
  ModelBatch batch;
  batch.programs = static_cast<int64_t>(scores.size());
  batch.rank_correlation = rank_correlation(scores, throughputs);
  batch.best_of_eighth = best_of_first(scores, throughputs, std::max<size_t>(1, scores.size() / 8));
  return batch;
}

bool ChanceWatch::worse(const ModelBatch& batch) {
  constexpr double kDeviations = 1.645;  // of rank correlations around 0: one in twenty is below
  constexpr int kRounds = 3;
  const bool worse =
      batch.rank_correlation * std::sqrt(static_cast<double>(batch.programs - 1)) < -kDeviations;
  in_succession_ = worse ? in_succession_ + 1 : 0;
  return in_succession_ >= kRounds;
}

}  // namespace tunesmith
