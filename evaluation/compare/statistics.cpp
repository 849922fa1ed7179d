#include "tunesmith/evaluation/statistics.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

/// Interpolates at `share` of the sorted values.
double quantile(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(place);
  const double rest = place - static_cast<double>(below);
  // Avoids arithmetic with infinities that gives NaN.
  if (rest == 0.0 || sorted[below] == sorted[below + 1]) return sorted[below];
  return sorted[below] + rest * (sorted[below + 1] - sorted[below]);
}

/// Twice the ranks of the magnitudes, so that the mean rank of ties is an integer.
std::vector<size_t> doubled_ranks(const std::vector<double>& differences) {
  std::vector<double> magnitudes;
  for (const double difference : differences) magnitudes.push_back(std::abs(difference));
  std::ranges::sort(magnitudes);
  std::vector<size_t> ranks;
  for (const double difference : differences) {
    const auto [begin, end] = std::ranges::equal_range(magnitudes, std::abs(difference));
    ranks.push_back(static_cast<size_t>((begin - magnitudes.begin()) + (end - magnitudes.begin()) + 1));
  }
  return ranks;
}

}  // namespace

Quartiles quartiles(std::vector<double> values) {
  check_invariant(!values.empty(), "quartiles need a value");
  std::ranges::sort(values);
  return {quantile(values, 0.25), quantile(values, 0.5), quantile(values, 0.75)};
}

double geometric_mean(std::span<const double> values) {
  check_invariant(!values.empty(), "a mean needs a value");
  double sum = 0.0;
  for (const double value : values) sum += std::log(value);
  return std::exp(sum / static_cast<double>(values.size()));
}

SignedRank signed_rank(std::span<const double> differences) {
  std::vector<double> differing;
  std::ranges::copy_if(differences, std::back_inserter(differing), [](double d) { return d != 0.0; });
  if (differing.empty()) return {};
  const std::vector<size_t> ranks = doubled_ranks(differing);
  size_t all = 0;
  size_t positive = 0;
  for (size_t i = 0; i < ranks.size(); ++i) {
    all += ranks[i];
    if (differing[i] > 0.0) positive += ranks[i];
  }
  // probability[s]: the probability that positive ranks sum to s with random signs.
  std::vector<double> probability(all + 1, 0.0);
  probability[0] = 1.0;
  for (const size_t rank : ranks) {
    for (size_t s = all + 1; s-- > 0;)
      probability[s] = 0.5 * (probability[s] + (s >= rank ? probability[s - rank] : 0.0));
  }
  double below = 0.0;
  double above = 0.0;
  for (size_t s = 0; s <= all; ++s) {
    if (s <= positive) below += probability[s];
    if (s >= positive) above += probability[s];
  }
  return {differing.size(), std::min(1.0, 2.0 * std::min(below, above))};
}

}  // namespace tunesmith
