#include "runner_pool.h"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace tunesmith {

template <typename Measure>
auto RunnerPool::measured(size_t task, const Measure& measure) {
  Kept& kept = take(task);
  std::invoke_result_t<const Measure&, Runner&> answers;
  kept.busy = true;
  try {
    relay_.apart([&] { answers = measure(*kept.runner); });
  } catch (const std::exception&) {
    kept.busy = false;
    throw;
  }
  kept.busy = false;
  return answers;
}

/// The handle that a task holds instead of its runner.
class RunnerPool::Front final : public Runner {
 public:
  Front(RunnerPool& pool, size_t task) : pool_(pool), task_(task) {}

  std::vector<MeasureResult> run(std::span<const MeasureRequest> requests) override {
    return pool_.measured(task_, [&](Runner& runner) { return runner.run(requests); });
  }
  std::vector<InterleavedTimes> interleave(std::span<const CompiledKernel* const> kernels,
                                           const InterleaveOptions& options) override {
    return pool_.measured(task_, [&](Runner& runner) { return runner.interleave(kernels, options); });
  }
  std::optional<CompiledKernel> as_candidate(const Trace& trace, uint64_t lowered_hash) const override {
    return pool_.take(task_).runner->as_candidate(trace, lowered_hash);
  }
  size_t at_once() const override { return pool_.take(task_).runner->at_once(); }

 private:
  RunnerPool& pool_;
  const size_t task_;
};

RunnerPool::RunnerPool(std::function<std::unique_ptr<Runner>(size_t)> make, std::vector<double> bytes,
                       double limit, Relay& relay)
    : make_(std::move(make)), bytes_(std::move(bytes)), limit_(limit), relay_(relay) {
  for (size_t task = 0; task < bytes_.size(); ++task) fronts_.push_back(std::make_unique<Front>(*this, task));
}

RunnerPool::~RunnerPool() = default;

RunnerPool::Kept& RunnerPool::take(size_t task) {
  const auto found = std::ranges::find(kept_, task, &Kept::task);
  if (found != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, found);
    return kept_.front();
  }
  double held = bytes_[task];
  for (const Kept& other : kept_) held += bytes_[other.task];
  for (auto last = kept_.end(); last != kept_.begin() && held > limit_;) {
    --last;
    if (last->busy) continue;
    held -= bytes_[last->task];
    last = kept_.erase(last);
  }
  kept_.push_front({task, make_(task)});
  return kept_.front();
}

}  // namespace tunesmith
