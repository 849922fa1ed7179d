#include "runner_pool.h"

#include <algorithm>
#include <utility>

namespace tunesmith {

/// The handle that a task holds instead of its runner.
class RunnerPool::Front final : public Runner {
 public:
  Front(RunnerPool& pool, size_t task) : pool_(pool), task_(task) {}

  std::vector<MeasureResult> run(std::span<const MeasureRequest> requests) override {
    return pool_.take(task_).run(requests);
  }
  std::vector<InterleavedTimes> interleave(std::span<const CompiledKernel* const> kernels,
                                           const InterleaveOptions& options) override {
    return pool_.take(task_).interleave(kernels, options);
  }
  std::optional<CompiledKernel> as_candidate(const Trace& trace, uint64_t lowered_hash) const override {
    return pool_.take(task_).as_candidate(trace, lowered_hash);
  }
  size_t at_once() const override { return pool_.take(task_).at_once(); }

 private:
  RunnerPool& pool_;
  const size_t task_;
};

RunnerPool::RunnerPool(std::function<std::unique_ptr<Runner>(size_t)> make, std::vector<double> bytes,
                       double limit)
    : make_(std::move(make)), bytes_(std::move(bytes)), limit_(limit) {
  for (size_t task = 0; task < bytes_.size(); ++task) fronts_.push_back(std::make_unique<Front>(*this, task));
}

RunnerPool::~RunnerPool() = default;

Runner& RunnerPool::take(size_t task) {
  const auto found = std::ranges::find(kept_, task, &Kept::task);
  if (found != kept_.end()) {
    kept_.splice(kept_.begin(), kept_, found);
    return *kept_.front().runner;
  }
  double held = bytes_[task];
  for (const Kept& other : kept_) held += bytes_[other.task];
  while (!kept_.empty() && held > limit_) {
    held -= bytes_[kept_.back().task];
    kept_.pop_back();
  }
  kept_.push_front({task, make_(task)});
  return *kept_.front().runner;
}

}  // namespace tunesmith
