#include "tune/rank.h"

namespace tunesmith {

Ranking rank(Runner& runner, std::span<const CompiledKernel* const> kernels, const PeakKernel& peak,
             const InterleaveOptions& options) {
  std::vector<const CompiledKernel*> timed(kernels.begin(), kernels.end());
  timed.push_back(&peak.kernel);
  std::vector<InterleavedTimes> times = runner.interleave(timed, options);
  Ranking ranking;
  if (const std::vector<double>& samples = times.back().samples; !samples.empty()) {
    ranking.peak_operations_per_second = peak.operations / quantile_interval(samples, kTimeQuantile).value;
  }
  for (size_t i = 0; i < kernels.size(); ++i) {
    RankedKernel& ranked = ranking.kernels.emplace_back();
    ranked.samples = std::move(times[i].samples);
    if (ranked.samples.empty()) continue;
    ranked.disturbed = 2 * times[i].disturbed > ranked.samples.size();
    ranked.time = quantile_interval(ranked.samples, kTimeQuantile, kernels.size());
    if (!ranking.best || ranked.time->value < ranking.kernels[*ranking.best].time->value) ranking.best = i;
  }
  return ranking;
}

}  // namespace tunesmith
