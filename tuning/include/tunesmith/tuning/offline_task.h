// A task as its searcher sees it, without a run: results are what its owner says, and nothing is measured or
// recorded. What checks and benchmarks of searchers stand on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "tunesmith/search/searcher.h"
#include "tunesmith/space/space.h"
#include "tunesmith/workload/workload.h"

#pragma GCC visibility push(default)
namespace tunesmith {

class Task;

/// Called by one thread at a time; `workload` and `space` outlive it.
class OfflineTask {
 public:
  /// `threads`: for replaying, 0 = all. Throws what Space::generate throws.
  OfflineTask(const Workload& workload, const Space& space, uint64_t seed, size_t threads);
  ~OfflineTask();
  OfflineTask(const OfflineTask&) = delete;
  OfflineTask& operator=(const OfflineTask&) = delete;

  SearchContext& context();
  /// Random streams continue as in a run that proposes after so many trials.
  void begin_round(int64_t trials);
  /// Adds results to the history, and tells the space's cost model.
  void learn(std::span<const Measured> results);

 private:
  std::unique_ptr<Task> task_;
};

}  // namespace tunesmith
#pragma GCC visibility pop
