// A task as a searcher sees it, without a run: its owner supplies the results,
// and nothing is measured or recorded. For checks and benchmarks of searchers.
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
  /// `threads`: for replaying; 0 = all. Throws what Space::generate throws.
  OfflineTask(const Workload& workload, const Space& space, uint64_t seed, size_t threads);
  ~OfflineTask();
  OfflineTask(const OfflineTask&) = delete;
  OfflineTask& operator=(const OfflineTask&) = delete;

  SearchContext& context();
  /// Continues the random streams as in a run that proposes after this many trials.
  void begin_round(int64_t trials);
  /// Adds results to the history, and updates the space's cost model.
  void learn(std::span<const Measured> results);

 private:
  std::unique_ptr<Task> task_;
};

}  // namespace tunesmith
#pragma GCC visibility pop
