#include "tune/rank.h"

#include <algorithm>
#include <numeric>

#include "tune/stopwatch.h"

namespace tunesmith {
namespace {

constexpr int kFirstRounds = 5;

double low_quantile(const std::vector<double>& samples) {
  return quantile_interval(samples, kTimeQuantile).value;
}

size_t sample_count(const InterleavedTimes& times) { return times.samples.size(); }

/// The first kernels, as many as kFirstRounds of each take `seconds`, and at least kFinalists.
std::vector<size_t> entrants(std::span<const double> expected_seconds, double seconds) {
  size_t count = std::min(expected_seconds.size(), kFinalists);
  double taken =
      kFirstRounds * std::accumulate(expected_seconds.begin(),
                                     expected_seconds.begin() + static_cast<std::ptrdiff_t>(count), 0.0);
  while (count < expected_seconds.size() && taken + kFirstRounds * expected_seconds[count] <= seconds)
    taken += kFirstRounds * expected_seconds[count++];
  std::vector<size_t> kernels(count);
  std::iota(kernels.begin(), kernels.end(), size_t{0});
  return kernels;
}

}  // namespace

Ranking rank(Runner& runner, std::span<const CompiledKernel* const> kernels,
             std::span<const double> expected_seconds, const PeakKernel& peak,
             const InterleaveOptions& options) {
  Ranking ranking;
  ranking.kernels.resize(kernels.size());
  std::vector<size_t> disturbed(kernels.size());
  std::vector<double> peak_samples;
  double spent = 0.0;
  // Answers whether all rounds were done. A kernel that failed in them is out of `left`.
  const auto time_in_turn = [&](std::vector<size_t>& left, int rounds, double budget) {
    const Stopwatch watch(spent);
    std::vector<const CompiledKernel*> timed;
    for (const size_t kernel : left) timed.push_back(kernels[kernel]);
    timed.push_back(&peak.kernel);
    InterleaveOptions stage = options;
    stage.rounds = rounds;
    stage.budget_seconds = budget;
    stage.yardstick = &peak.kernel;
    std::vector<InterleavedTimes> times = runner.interleave(timed, stage);
    peak_samples.insert(peak_samples.end(), times.back().samples.begin(), times.back().samples.end());
    times.pop_back();
    const size_t max_samples = std::ranges::max(times, {}, sample_count).samples.size();
    if (max_samples == 0) return false;  // stopped: what was taken before counts
    std::vector<size_t> sampled;
    for (size_t i = 0; i < left.size(); ++i) {
      if (times[i].samples.empty()) {
        ranking.kernels[left[i]].samples.clear();
        ranking.kernels[left[i]].failure = times[i].failure;
        continue;
      }
      std::vector<double>& samples = ranking.kernels[left[i]].samples;
      samples.insert(samples.end(), times[i].samples.begin(), times[i].samples.end());
      disturbed[left[i]] += times[i].disturbed;
      sampled.push_back(left[i]);
    }
    left = std::move(sampled);
    return max_samples == static_cast<size_t>(rounds);
  };

  std::vector<size_t> left = entrants(expected_seconds, options.budget_seconds / 4);
  int rounds = kFirstRounds;
  int done = 0;
  while (left.size() > kFinalists && done + rounds < options.rounds) {
    if (!time_in_turn(left, rounds, options.budget_seconds / 4)) break;
    done += rounds;
    std::ranges::stable_sort(left, {},
                             [&](size_t kernel) { return low_quantile(ranking.kernels[kernel].samples); });
    left.resize(std::min(left.size(), std::max(kFinalists, (left.size() + 1) / 2)));
    std::ranges::sort(left);
    rounds *= 2;
  }
  if (!left.empty()) time_in_turn(left, options.rounds - done, options.budget_seconds - spent);
  if (!peak_samples.empty())
    ranking.peak_operations_per_second = peak.operations / low_quantile(peak_samples);
  for (const size_t kernel : left) {
    RankedKernel& ranked = ranking.kernels[kernel];
    if (ranked.samples.empty()) continue;
    ranked.disturbed = 2 * disturbed[kernel] > ranked.samples.size();
    ranked.time = quantile_interval(ranked.samples, kTimeQuantile, kernels.size());
    if (!ranking.best || ranked.time->value < ranking.kernels[*ranking.best].time->value)
      ranking.best = kernel;
  }
  return ranking;
}

}  // namespace tunesmith
