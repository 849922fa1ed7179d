// Keeps the runners of many tasks, within a memory limit.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <vector>

#include "relay.h"
#include "tunesmith/measure/runner.h"

namespace tunesmith {

/// Each runner holds a worker process with its task's arguments and expected results. The runner that was
/// unused for longest makes room for another, and is made again when its task continues. Used by one thread.
class RunnerPool {
 public:
  /// `bytes`: the approximate size of each task's runner. `limit`: of all runners; the one in use may be
  /// larger. Runners measure apart from `relay`, which outlives the pool; all else needs its baton.
  RunnerPool(std::function<std::unique_ptr<Runner>(size_t)> make, std::vector<double> bytes, double limit,
             Relay& relay);
  ~RunnerPool();
  RunnerPool(const RunnerPool&) = delete;
  RunnerPool& operator=(const RunnerPool&) = delete;

  /// The task's runner, which lives as long as the pool and starts a worker at its first use.
  Runner& of(size_t task) { return *fronts_[task]; }
  /// The number of runners now.
  size_t kept() const { return kept_.size(); }

 private:
  class Front;
  struct Kept {
    size_t task = 0;
    std::unique_ptr<Runner> runner;
    bool busy = false;  // is measuring
  };

  Kept& take(size_t task);
  /// Calls `measure` with the task's runner, without the baton.
  template <typename Measure>
  auto measured(size_t task, const Measure& measure);

  const std::function<std::unique_ptr<Runner>(size_t)> make_;
  const std::vector<double> bytes_;
  const double limit_;
  Relay& relay_;
  std::list<Kept> kept_;  // the last used one is first
  std::vector<std::unique_ptr<Runner>> fronts_;
};

}  // namespace tunesmith
