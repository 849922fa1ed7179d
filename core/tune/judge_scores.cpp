#include "tune/judge_scores.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace tunesmith {
namespace {

/// Places in rising order; equal values share the mean of their places.
std::vector<double> ranks_of(std::span<const double> values) {
  std::vector<size_t> order(values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin + 1;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    for (size_t i = begin; i < end; ++i) ranks[order[i]] = static_cast<double>(begin + end - 1) / 2.0;
    begin = end;
  }
  return ranks;
}

/// 0 when one of them is constant: nothing is ordered.
double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const double mean = static_cast<double>(a.size() - 1) / 2.0;  // of ranks
  double ab = 0.0;
  double aa = 0.0;
  double bb = 0.0;
  for (size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean) * (b[i] - mean);
    aa += (a[i] - mean) * (a[i] - mean);
    bb += (b[i] - mean) * (b[i] - mean);
  }
  return aa > 0.0 && bb > 0.0 ? ab / std::sqrt(aa * bb) : 0.0;
}

/// Of `values` about the line of `scores` that fits them best.
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

ModelBatch judge_scores(std::span<const double> scores, std::span<const double> throughputs) {
  ModelBatch batch;
  batch.programs = static_cast<int64_t>(scores.size());
  batch.rank_correlation = correlation(ranks_of(scores), ranks_of(throughputs));
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return scores[a] > scores[b]; });
  double best = 0.0;
  for (size_t i = 0; i < std::max<size_t>(1, scores.size() / 8); ++i)
    best = std::max(best, throughputs[order[i]]);
  const double most = std::ranges::max(throughputs);
  batch.best_of_eighth = most > 0.0 ? best / most : 0.0;
  batch.rmse = most > 0.0 ? rmse_about_line(scores, throughputs) / most : 0.0;
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
