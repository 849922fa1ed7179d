#include "tunesmith/search/score_quality.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace tunesmith {
namespace {

/// Ranks in increasing order; equal values share their mean rank.
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

}  // namespace

double rank_correlation(std::span<const double> scores, std::span<const double> throughputs) {
  const std::vector<double> a = ranks_of(scores);
  const std::vector<double> b = ranks_of(throughputs);
  const double mean = (static_cast<double>(a.size()) - 1.0) / 2.0;  // of the ranks
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

double pairs_in_order(std::span<const double> scores, std::span<const double> throughputs, double apart) {
  double pairs = 0.0;
  double right = 0.0;
  for (size_t a = 0; a < scores.size(); ++a) {
    for (size_t b = 0; b < scores.size(); ++b) {
      if (throughputs[a] <= throughputs[b] || throughputs[a] < apart * throughputs[b]) continue;
      pairs += 1.0;
      right += scores[a] > scores[b] ? 1.0 : scores[a] == scores[b] ? 0.5 : 0.0;
    }
  }
  return pairs > 0.0 ? right / pairs : 0.5;
}

double best_of_first(std::span<const double> scores, std::span<const double> throughputs, size_t n) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return scores[a] > scores[b]; });
  double best = 0.0;
  for (size_t i = 0; i < std::min(n, order.size()); ++i) best = std::max(best, throughputs[order[i]]);
  double most = 0.0;
  for (const double throughput : throughputs) most = std::max(most, throughput);
  return most > 0.0 ? best / most : 0.0;
}

}  // namespace tunesmith
