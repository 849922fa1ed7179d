#include "worker/time_kernel.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "tunesmith/support/monotonic_clock.h"
#include "worker/pool_threads.h"

namespace tunesmith {
namespace {

constexpr double kLongCall = 1.0;  // seconds
/// For shorter calls, data that earlier programs left in other cores' caches matter.
constexpr double kSettlingCall = 4e-3;
/// Minimum duration of warming calls before a sample, at least one call: after a pause, one is not enough.
constexpr double kSettlingSeconds = 0.5e-3;
/// The race ends for a shorter call only by two samples that agree within kAgreement, this far apart: other
/// work has a core for milliseconds, and a program that waits for that core is many times slower.
constexpr double kConfirmedCall = 1e-3;
constexpr double kConfirmingSeconds = 2e-3;
constexpr double kAgreement = 1.2;

/// The seconds of one call, averaged over the calls of a sample; `first`: the known time of a call.
double take_sample(const KernelCall& call, double first) {
  const int calls =
      first >= kSampleSeconds ? 1 : static_cast<int>(std::ceil(kSampleSeconds / std::max(first, 1e-8)));
  if (const auto seconds = call.device_seconds(calls)) return *seconds;
  const double begin = now_seconds();
  for (int i = 0; i < calls; ++i) call();
  return (now_seconds() - begin) / calls;
}

/// Calls for at least `seconds`, once or more. Returns the seconds of the fastest call: a disturbance ends
/// the calls more often than not.
double settle(const KernelCall& call, double seconds = kSettlingSeconds) {
  wake_threads(call.pool);
  const double begin = now_seconds();
  double least = std::numeric_limits<double>::infinity();
  do least = std::min(least, time_call(call));
  while (now_seconds() - begin < seconds);
  return least;
}

}  // namespace

double time_call(const KernelCall& call) {
  if (const auto seconds = call.device_seconds(1)) return *seconds;
  const double begin = now_seconds();
  call();
  return now_seconds() - begin;
}

std::vector<double> sample_kernel(const KernelCall& call, const SamplingOptions& options,
                                  double limit_seconds, double first_seconds,
                                  const std::function<void(int)>& between) {
  // By the time of a cold call a sample would have too few calls, and the first would end the race.
  const double first = first_seconds < kSettlingCall ? settle(call) : first_seconds;
  std::vector<double> samples;
  double total = 0.0;
  double least = std::numeric_limits<double>::infinity();
  const auto slower_than = [&](double factor) {
    return limit_seconds > 0.0 && least > factor * limit_seconds;
  };
  const auto confirmed = [&] {
    if (first >= kConfirmedCall || std::cmp_greater_equal(samples.size(), options.min_repeats)) return true;
    return samples.size() > 1 && std::ranges::max(samples) <= kAgreement * least;
  };
  const auto enough = [&] {
    const auto taken = static_cast<int>(samples.size());
    if (slower_than(options.racing_factor)) return confirmed();
    if (taken < options.min_repeats) return false;
    return taken >= options.max_repeats || total >= options.min_total_seconds || slower_than(kContender);
  };
  for (;;) {
    samples.push_back(take_sample(call, first));
    total += samples.back();
    least = std::min(least, samples.back());
    if (enough()) return samples;
    if (slower_than(options.racing_factor)) settle(call, kConfirmingSeconds);
    between(static_cast<int>(samples.size()));
  }
}

std::vector<std::vector<double>> time_rounds(std::span<InterleavedKernel> kernels, int rounds) {
  std::vector<std::vector<double>> samples(kernels.size());
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < kernels.size(); ++i) {
      InterleavedKernel& kernel = kernels[i];
      if (kernel.modelled) {
        samples[i].push_back(*kernel.modelled);
        continue;
      }
      const bool was_the_first = kernel.samples++ == 0 && kernel.warm >= kLongCall;
      const double first = kernel.warm < kSettlingCall ? settle(kernel.call) : kernel.warm;
      samples[i].push_back(was_the_first ? kernel.warm : take_sample(kernel.call, first));
    }
  }
  return samples;
}

}  // namespace tunesmith
