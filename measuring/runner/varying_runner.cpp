#include "runner/varying_runner.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tunesmith/ir/extents.h"
#include "tunesmith/support/contains.h"
#include "tunesmith/verification/verified_values.h"

namespace tunesmith {
namespace {

double geometric_mean(std::span<const double> values) {
  double logarithms = 0.0;
  for (const double value : values) logarithms += std::log(value);
  return std::exp(logarithms / static_cast<double>(values.size()));
}

/// The geometric mean of each sample over all values, for as many samples as every value has.
std::vector<double> mean_samples(std::span<const std::vector<double>> of_values) {
  std::vector<double> means;
  for (size_t i = 0;; ++i) {
    std::vector<double> samples;
    for (const std::vector<double>& one : of_values) {
      if (i >= one.size()) return means;
      samples.push_back(one[i]);
    }
    means.push_back(geometric_mean(samples));
  }
}

class VaryingRunner final : public Runner {
 public:
  VaryingRunner(const Workload& workload, const MeasureOptions& options, const MakeRunner& make) {
    const std::vector<ParameterValues> timed = typical_values(workload.program);
    for (const ParameterValues& values : timed) timed_.push_back({values, make(values, options), 0.0});
    for (const ParameterValues& values : ranked_values(workload.program))
      if (!contains(timed, values)) ranked_.push_back({values, make(values, options), 0.0});
    MeasureOptions once = options;
    once.min_repeats = once.max_repeats = 1;
    once.min_total_seconds = 0.0;
    std::vector<ParameterValues> verified = verified_values(workload.program, options.data_seed);
    for (const ParameterValues& values : options.also_verified_at)
      if (!contains(verified, values)) verified.push_back(values);
    for (const ParameterValues& values : verified) {
      if (!contains(timed, values)) verified_.push_back({values, make(values, once), 0.0});
    }
  }

  std::vector<MeasureResult> run(std::span<const MeasureRequest> requests) override {
    std::vector<MeasureResult> results(requests.size());
    std::vector<std::vector<std::vector<double>>> samples(requests.size());
    for (One& one : verified_) run_at(one, requests, results, nullptr);
    for (One& one : timed_) run_at(one, requests, results, &samples);
    for (size_t i = 0; i < results.size(); ++i) {
      if (results[i].failure) {
        results[i].timing.reset();
        continue;
      }
      const double prepare = results[i].timing->prepare;
      results[i].timing = make_timing(mean_samples(samples[i]));
      results[i].timing->prepare = prepare;
      for (size_t k = 0; k < timed_.size(); ++k)
        results[i].timing->at.push_back({timed_[k].values, std::ranges::min(samples[i][k])});
    }
    return results;
  }

  std::vector<InterleavedTimes> interleave(std::span<const CompiledKernel* const> kernels,
                                           const InterleaveOptions& options) override {
    InterleaveOptions each = options;
    each.budget_seconds /= static_cast<double>(timed_.size() + ranked_.size());
    std::vector<InterleavedTimes> times(kernels.size());
    for (std::vector<One>* ones : {&timed_, &ranked_})
      for (One& one : *ones) interleave_at(one, kernels, each, times);
    for (InterleavedTimes& kernel : times) {
      if (kernel.failure) kernel.at.clear();
      std::vector<std::vector<double>> samples;
      for (size_t i = 0; i < timed_.size() && !kernel.failure; ++i) samples.push_back(kernel.at[i].samples);
      if (!kernel.failure) kernel.samples = mean_samples(samples);
      kernel.disturbed = std::min(kernel.disturbed, kernel.samples.size());
    }
    return times;
  }

  std::vector<std::string> not_exercised() const override { return timed_.front().runner->not_exercised(); }

 private:
  struct One {
    ParameterValues values;
    std::unique_ptr<Runner> runner;
    double best = 0.0;  // the smallest sample so far; 0: none
  };

  static CandidateFailure said_at(const One& one, CandidateFailure failure) {
    failure.message = fmt::format("for [{}]: {}", fmt::join(one.values, ", "), failure.message);
    return failure;
  }

  static void interleave_at(One& one, std::span<const CompiledKernel* const> kernels,
                            const InterleaveOptions& options, std::vector<InterleavedTimes>& times) {
    std::vector<InterleavedTimes> here = one.runner->interleave(kernels, options);
    for (size_t i = 0; i < kernels.size(); ++i) {
      times[i].disturbed = std::max(times[i].disturbed, here[i].disturbed);
      if (here[i].failure && !times[i].failure) times[i].failure = said_at(one, *here[i].failure);
      times[i].at.push_back({one.values, std::move(here[i].samples)});
    }
  }

  /// Those that have not failed at other values.
  static void run_at(One& one, std::span<const MeasureRequest> requests, std::vector<MeasureResult>& results,
                     std::vector<std::vector<std::vector<double>>>* samples) {
    std::vector<MeasureRequest> left;
    std::vector<size_t> of;
    for (size_t i = 0; i < requests.size(); ++i) {
      if (results[i].failure) continue;
      left.push_back(requests[i]);
      left.back().limit_seconds = requests[i].limit_seconds > 0.0 ? one.best : 0.0;
      of.push_back(i);
    }
    if (left.empty()) return;
    std::vector<MeasureResult> here = one.runner->run(left);
    for (size_t i = 0; i < here.size(); ++i) {
      MeasureResult& all = results[of[i]];
      all.verified_error = std::max(all.verified_error, here[i].verified_error);
      if (here[i].disturbed) all.disturbed = all.disturbed.value_or(false) || *here[i].disturbed;
      if (here[i].failure) all.failure = said_at(one, *here[i].failure);
      if (samples == nullptr || !here[i].timing) continue;
      one.best = one.best > 0.0 ? std::min(one.best, here[i].timing->min) : here[i].timing->min;
      (*samples)[of[i]].push_back(here[i].timing->samples);
      const double before = all.timing ? all.timing->prepare : 0.0;
      all.timing = std::move(here[i].timing);
      all.timing->prepare = std::max(all.timing->prepare, before);
    }
  }

  std::vector<One> timed_;
  std::vector<One> ranked_;  // timed in turn as well
  std::vector<One> verified_;
};

}  // namespace

std::unique_ptr<Runner> make_varying_runner(const Workload& workload, const MeasureOptions& options,
                                            const MakeRunner& make) {
  return std::make_unique<VaryingRunner>(workload, options, make);
}

}  // namespace tunesmith
