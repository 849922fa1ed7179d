#include "evaluate_scores.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tunesmith/search/score_quality.h"

namespace tunesmith {
namespace {

/// The error of `values` about the best-fitting line of `scores`.
double rmse_about_line(std::span<const double> scores, std::span<const double> values) {
  const auto n = static_cast<double>(values.size());
  const double mean_score = std::accumulate(scores.begin(), scores.end(), 0.0) / n;
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double products = 0.0;
  double squares = 0.0;
  for (size_t i = 0; i < values.size(); ++i) {
    products += (scores[i] - mean_score) * (values[i] - mean);
    squares += (scores[i] - mean_score) * (scores[i] - mean_score);
  }
  const double slope = squares > 0.0 ? products / squares : 0.0;
  double errors = 0.0;
  for (size_t i = 0; i < values.size(); ++i) {
    const double error = values[i] - mean - slope * (scores[i] - mean_score);
    errors += error * error;
  }
  return std::sqrt(errors / n);
}

}  // namespace

ModelBatch evaluate_scores(std::span<const double> scores, std::span<const double> throughputs) {
  ModelBatch batch;
  batch.programs = static_cast<int64_t>(scores.size());
  batch.rank_correlation = rank_correlation(scores, throughputs);
  batch.best_of_eighth = best_of_first(scores, throughputs, std::max<size_t>(1, scores.size() / 8));
  if (const double highest = std::ranges::max(throughputs); highest > 0.0)
    batch.rmse = rmse_about_line(scores, throughputs) / highest;
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
