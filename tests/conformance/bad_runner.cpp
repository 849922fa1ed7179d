// Measures on this machine, unless TUNESMITH_TEST_MISTAKE asks for a mistake.
#include <algorithm>
#include <stdexcept>

#include <tunesmith/measuring/measuring_place.h>
#include <tunesmith/plugin/plugin.h>
#include <tunesmith/support/thread_pool.h>

#include "mistake.h"

namespace {

using namespace tunesmith;

class WithMistakes final : public Runner {
 public:
  WithMistakes(std::unique_ptr<Runner> right, const MeasureOptions& options)
      : right_(std::move(right)), options_(options) {}

  std::vector<MeasureResult> run(std::span<const MeasureRequest> requests) override {
    if (mistake("throws_in_run")) throw std::runtime_error("boom");
    std::vector<MeasureResult> results = right_->run(requests);
    if (results.empty()) return results;
    if (mistake("one_too_few")) results.pop_back();
    if (mistake("another_order")) std::ranges::reverse(results);
    for (MeasureResult& one : results) {
      if (mistake("times_a_failure") && one.failure) one.timing = make_timing({1e-3});
      if (mistake("blames_the_program") && *options_.stop) one.failure->cause = FailureCause::Crash;
    }
    return results;
  }

  std::vector<InterleavedTimes> interleave(std::span<const CompiledKernel* const> kernels,
                                           const InterleaveOptions& options) override {
    std::vector<InterleavedTimes> times = right_->interleave(kernels, options);
    if (mistake("forgets_a_round")) times.back().samples.pop_back();
    return times;
  }

 private:
  const std::unique_ptr<Runner> right_;
  const MeasureOptions& options_;
};

class BadPlace final : public MeasuringPlace {
 public:
  bool here() const override { return true; }

  MeasuredOn measured_on(const Space& space, int threads) override {
    MeasuredOn on{detect_environment(space.plugin_versions()), threads > 0 ? threads : 1};
    if (mistake("moves")) on.threads += asked_++;
    return on;
  }

  std::unique_ptr<Runner> make_runner(const RunnerTask& task) override {
    return std::make_unique<WithMistakes>(
        make_worker_runner(task.workload, task.space.target(), task.worker_target, task.options),
        task.options);
  }

 private:
  int asked_ = 0;
};

}  // namespace

TUNESMITH_PLUGIN(BadPlace, PluginKind::Runner, "bad_runner", "1.0.0",
                 "makes the mistake that it is asked for");
