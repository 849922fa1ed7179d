#include "rank.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "stopwatch.h"
#include "tunesmith/target/benchmarking.h"
#include "tunesmith/tuning/quiet_samples.h"

namespace tunesmith {
namespace {

constexpr int kFirstRounds = 5;
/// What is known stays the best until another takes less than this of its time. Measured twice,
/// two programs' ratio differs by less than 1 % in nine of ten pairs.
constexpr double kFaster = 0.99;

size_t sample_count(const InterleavedTimes& times) { return times.samples.size(); }

/// The first kernels of which kFirstRounds rounds fit in `seconds`, at least `kept` + kFinalists.
std::vector<size_t> entrants(std::span<const double> expected_seconds, size_t kept, double seconds) {
  size_t count = std::min(expected_seconds.size(), kept + kFinalists);
  double taken =
      kFirstRounds * std::accumulate(expected_seconds.begin(),
                                     expected_seconds.begin() + static_cast<std::ptrdiff_t>(count), 0.0);
  while (count < expected_seconds.size() && taken + kFirstRounds * expected_seconds[count] <= seconds)
    taken += kFirstRounds * expected_seconds[count++];
  std::vector<size_t> kernels(count);
  std::iota(kernels.begin(), kernels.end(), size_t{0});
  return kernels;
}

/// The rounds of a ranking.
class Rounded {
 public:
  Rounded(Runner& runner, std::span<const CompiledKernel* const> kernels, const PeakKernel& peak,
          const InterleaveOptions& options)
      : disturbed_(kernels.size()), runner_(runner), kernels_(kernels), peak_(peak), options_(options) {
    ranking_.kernels.resize(kernels.size());
  }

  /// Were all rounds done? Removes kernels that failed in them from `left`.
  bool time_in_turn(std::vector<size_t>& left, int rounds, double budget) {
    const Stopwatch watch(spent_);
    std::vector<const CompiledKernel*> timed;
    for (const size_t kernel : left) timed.push_back(kernels_[kernel]);
    if (has_peak()) timed.push_back(&peak_.kernel);
    InterleaveOptions stage = options_;
    stage.rounds = rounds;
    stage.budget_seconds = budget;
    stage.yardstick = has_peak() ? &peak_.kernel : nullptr;
    std::vector<InterleavedTimes> times = runner_.interleave(timed, stage);
    if (has_peak()) {
      peak_samples_.insert(peak_samples_.end(), times.back().samples.begin(), times.back().samples.end());
      peak_disturbed_ += times.back().disturbed;
      times.pop_back();
    }
    const size_t max_samples = std::ranges::max(times, {}, sample_count).samples.size();
    if (max_samples == 0) return false;  // stopped: earlier samples count
    std::vector<size_t> sampled;
    for (size_t i = 0; i < left.size(); ++i) {
      if (times[i].samples.empty()) {
        ranking_.kernels[left[i]].samples.clear();
        ranking_.kernels[left[i]].failure = times[i].failure;
        continue;
      }
      std::vector<double>& samples = ranking_.kernels[left[i]].samples;
      samples.insert(samples.end(), times[i].samples.begin(), times[i].samples.end());
      for (const auto& [values, more] : times[i].at) {
        std::vector<double>& known = samples_at_[values][left[i]];
        known.insert(known.end(), more.begin(), more.end());
      }
      disturbed_[left[i]] += times[i].disturbed;
      sampled.push_back(left[i]);
    }
    left = std::move(sampled);
    return max_samples == static_cast<size_t>(rounds);
  }

  /// The samples of each of `left` as quiet rounds would give them.
  std::vector<std::vector<double>> quiet_of(const std::vector<size_t>& left) const {
    std::vector<std::span<const double>> samples;
    for (const size_t kernel : left) samples.emplace_back(ranking_.kernels[kernel].samples);
    return quiet_samples(samples);
  }

  /// For each values of the program's parameters the time of each of `left`.
  std::vector<std::pair<std::vector<int64_t>, std::vector<double>>> times_at(
      const std::vector<size_t>& left) const {
    std::vector<std::pair<std::vector<int64_t>, std::vector<double>>> times;
    for (const auto& [values, of] : samples_at_) {
      std::vector<std::span<const double>> samples;
      for (const size_t kernel : left)
        samples.emplace_back(of.contains(kernel) ? std::span<const double>(of.at(kernel))
                                                 : std::span<const double>());
      if (std::ranges::any_of(samples, [](const auto& one) { return one.empty(); })) continue;
      const std::vector<std::vector<double>> quiet = quiet_samples(samples);
      std::vector<double>& seconds = times.emplace_back(values, std::vector<double>()).second;
      for (size_t i = 0; i < left.size(); ++i) seconds.push_back(quiet_time(samples[i], quiet[i]).value);
    }
    return times;
  }

  /// The times of kernels in all rounds, and the best of them. Must be the last call.
  Ranking conclude(std::vector<size_t> left, size_t kept) {
    if (!peak_samples_.empty()) {
      ranking_.peak_operations_per_second =
          peak_.operations / quantile_interval(peak_samples_, kTimeQuantile).value;
      ranking_.peak_disturbed = 2 * peak_disturbed_ > peak_samples_.size();
    }
    std::erase_if(left, [&](size_t kernel) { return ranking_.kernels[kernel].samples.empty(); });
    const std::vector<std::vector<double>> quiet = quiet_of(left);
    std::optional<double> known;  // the time of the fastest kept kernel
    for (size_t i = 0; i < left.size(); ++i) {
      RankedKernel& ranked = ranking_.kernels[left[i]];
      ranked.disturbed = 2 * disturbed_[left[i]] > ranked.samples.size();
      ranked.time = quiet_time(ranked.samples, quiet[i], kernels_.size());
      double& seconds = ranked.time->value;
      if (left[i] < kept) {
        known = std::min(seconds, known.value_or(seconds));
      } else if (known && seconds >= kFaster * *known) {
        seconds = std::min(std::max(seconds, *known), std::ranges::max(ranked.samples));
        if (std::optional<double>& high = ranked.time->high) high = std::max(*high, seconds);
      }
      if (!ranking_.best || seconds < ranking_.kernels[*ranking_.best].time->value) ranking_.best = left[i];
    }
    for (const auto& [values, seconds] : times_at(left))
      for (size_t i = 0; i < left.size(); ++i) ranking_.kernels[left[i]].at.push_back({values, seconds[i]});
    return std::move(ranking_);
  }

  /// Seconds so far.
  double spent() const { return spent_; }

 private:
  /// A target without a peak kernel has none.
  bool has_peak() const { return peak_.operations > 0.0; }

  Ranking ranking_;
  std::vector<size_t> disturbed_;  // disturbed samples of each kernel
  std::map<std::vector<int64_t>, std::map<size_t, std::vector<double>>> samples_at_;  // of each kernel
  std::vector<double> peak_samples_;
  size_t peak_disturbed_ = 0;  // of these
  double spent_ = 0.0;
  Runner& runner_;
  std::span<const CompiledKernel* const> kernels_;
  const PeakKernel& peak_;
  const InterleaveOptions& options_;
};

}  // namespace

Ranking rank(Runner& runner, std::span<const CompiledKernel* const> kernels,
             std::span<const double> expected_seconds, size_t kept, const PeakKernel& peak,
             const InterleaveOptions& options) {
  Rounded rounded(runner, kernels, peak, options);
  std::vector<size_t> left = entrants(expected_seconds, kept, options.budget_seconds / 4);
  int rounds = kFirstRounds;
  int done = 0;
  while (left.size() > kept + kFinalists && done + rounds < options.rounds) {
    if (!rounded.time_in_turn(left, rounds, options.budget_seconds / 4)) break;
    done += rounds;
    const std::vector<std::vector<double>> quiet = rounded.quiet_of(left);
    std::map<size_t, double> seconds;
    for (size_t i = 0; i < left.size(); ++i)
      seconds[left[i]] = quantile_interval(quiet[i], kTimeQuantile).value;
    std::ranges::stable_sort(left, {}, [&](size_t kernel) { return seconds.at(kernel); });
    const size_t staying = std::max(kFinalists, (left.size() + 1) / 2);
    std::vector<size_t> next(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(staying));
    std::set<size_t> fastest;  // with some values
    for (const auto& [values, times] : rounded.times_at(left))
      fastest.insert(left[static_cast<size_t>(std::ranges::min_element(times) - times.begin())]);
    std::copy_if(left.begin() + static_cast<std::ptrdiff_t>(staying), left.end(), std::back_inserter(next),
                 [&](size_t kernel) { return kernel < kept || fastest.contains(kernel); });
    std::ranges::sort(next);
    left = std::move(next);
    rounds *= 2;
  }
  if (!left.empty())
    rounded.time_in_turn(left, options.rounds - done, options.budget_seconds - rounded.spent());
  return rounded.conclude(std::move(left), kept);
}

}  // namespace tunesmith
