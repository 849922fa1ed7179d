// Launches of threads that share nothing, as one that pads an image: cheap to hold against the workload at
// their full shape, which a twin then need not do.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "tunesmith/ir/execution_model.h"
#include "tunesmith/ir/program.h"
#include "tunesmith/lower/lower.h"
#include "tunesmith/workload/workload.h"

namespace tunesmith {

/// Does nothing in it wait for other threads, or lie in memory that several have, and does it write one
/// buffer that it does not read?
bool is_lone(const Stmt& launch, const ExecutionModel& execution);

/// `lowered` without those of its launches.
LoweredProgram without_launches(const LoweredProgram& lowered, const std::vector<size_t>& positions,
                                const ExecutionModel& execution);

/// Safe to use from several threads. `workload` and `execution` outlive it.
class IndependentLaunches {
 public:
  IndependentLaunches(const Workload& workload, const ExecutionModel& execution);

  /// Positions in launches_of(lowered) of those that are independent and, as the interpreter finds, compute
  /// the same as the workload's stages do, each element of what they write; none that is too much to
  /// interpret.
  std::vector<size_t> proven(const Program& lowered) const;

 private:
  bool computes_its_stages(const Stmt& launch) const;

  const Workload& workload_;
  const ExecutionModel& execution_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, bool> known_;  // by the launch's text
};

}  // namespace tunesmith
