#include "runner/interleave.h"

#include <algorithm>
#include <numeric>

#include "worker/time_kernel.h"

namespace tunesmith {
namespace {

/// The duration of rounds requested at once; stops and waiting processes are handled in between.
constexpr double kSecondsAtOnce = 0.2;

/// Where a busy machine takes longer than is waited for, fewer rounds are requested at once.
constexpr int kFewer = 4;

/// The duration of one round if each kernel takes its last time.
double round_seconds(const std::vector<InterleavedTimes>& times, const std::vector<size_t>& taken) {
  return std::accumulate(taken.begin(), taken.end(), 0.0, [&](double sum, size_t kernel) {
    return sum + std::max(times[kernel].samples.back(), kSampleSeconds);
  });
}

/// The times of a kernel that is wrong after its rounds are meaningless.
void drop_the_wrong(InterleavedRounds& where, const std::vector<size_t>& taken,
                    std::vector<InterleavedTimes>& times) {
  if (taken.empty() || !where.alive()) return;
  const auto failures = where.check();
  if (!failures) return;  // the worker has ended: samples taken before count
  for (size_t i = 0; i < taken.size(); ++i) {
    if (!failures->at(i)) continue;
    times[taken[i]] = {};
    times[taken[i]].failure = failures->at(i);
  }
}

void fail(InterleavedTimes& times, const CandidateFailure& failure) {
  if (times.samples.empty()) times.failure = failure;
}

/// Kernels in `taken` that cannot be added fail and are removed. A lost worker may not be the
/// kernel's fault: each kernel is added once more (`added_again`). Returns the seconds of a round.
double add_all(InterleavedRounds& where, std::vector<size_t>& taken, std::vector<bool>& added_again,
               std::vector<InterleavedTimes>& times) {
  double expected = 0.0;
  for (size_t next = 0; next < taken.size();) {
    if (next == 0) expected = 0.0;
    const size_t kernel = taken[next];
    const auto first = where.add(kernel, next == 0);
    if (first) {
      expected += std::max(*first, kSampleSeconds);
      ++next;
      continue;
    }
    if (first.error().cause == FailureCause::WorkerLost && !added_again[kernel]) {
      added_again[kernel] = true;
    } else {
      fail(times[kernel], first.error());
      taken.erase(taken.begin() + static_cast<std::ptrdiff_t>(next));
    }
    if (!where.alive()) next = 0;
  }
  return expected;
}

}  // namespace

std::vector<InterleavedTimes> interleave(InterleavedRounds& where, size_t kernels,
                                         const InterleaveOptions& options) {
  std::vector<InterleavedTimes> times(kernels);
  std::vector<size_t> taken(kernels);
  std::iota(taken.begin(), taken.end(), size_t{0});
  std::vector<bool> added_again(kernels);
  bool timed_again = false;                // the last rounds failed and are being repeated
  int most = std::max(options.rounds, 1);  // rounds at once
  double expected = add_all(where, taken, added_again, times);
  double spent = 0.0;
  for (int done = 0; done < options.rounds && !taken.empty();) {
    const double affordable = (options.budget_seconds - spent) / expected;
    if (affordable < 1.0 && done >= options.min_rounds) break;
    const double at_once = done == 0 ? 1.0 : std::min(affordable, kSecondsAtOnce / expected);
    const int left = std::min(most, options.rounds - done);
    const int rounds = static_cast<int>(std::clamp(at_once, 1.0, static_cast<double>(left)));
    const auto samples = where.time(rounds, rounds * expected);
    const bool late = !samples && samples.error().cause == FailureCause::TimeOut && rounds > 1;
    if (late || (!samples && samples.error().cause == FailureCause::WorkerLost && !timed_again)) {
      timed_again = timed_again || !late;
      if (late) most = std::max(rounds / kFewer, 1);
      expected = add_all(where, taken, added_again, times);
      continue;
    }
    if (!samples) {
      for (const size_t kernel : taken) fail(times[kernel], samples.error());
      break;
    }
    timed_again = false;
    for (size_t i = 0; i < taken.size(); ++i) {
      InterleavedTimes& into = times[taken[i]];
      into.samples.insert(into.samples.end(), samples->seconds.at(i).begin(), samples->seconds.at(i).end());
      if (samples->disturbed) into.disturbed += static_cast<size_t>(rounds);
    }
    done += rounds;
    expected = round_seconds(times, taken);
    spent += rounds * expected;
  }
  drop_the_wrong(where, taken, times);
  return times;
}

}  // namespace tunesmith
