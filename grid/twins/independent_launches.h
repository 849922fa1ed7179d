// Finds launches whose threads share nothing, such as padding an image: the workload verifies them cheaply at
// full shape, so a twin need not.
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

/// Are its threads independent: no barrier, no memory that several threads share, and a single written
/// buffer, which it does not read?
bool is_lone(const Stmt& launch, const ExecutionModel& execution);

/// `lowered` without these launches.
LoweredProgram without_launches(const LoweredProgram& lowered, const std::vector<size_t>& positions,
                                const ExecutionModel& execution);

/// Thread-safe. `workload` and `execution` outlive it.
class IndependentLaunches {
 public:
  IndependentLaunches(const Workload& workload, const ExecutionModel& execution);

  /// Positions in launches_of(lowered) of the launches that are independent
  /// and, as the interpreter shows, compute the same elements as the
  /// workload's stages; without those that are too long to interpret.
  std::vector<size_t> proven(const Program& lowered) const;

 private:
  bool computes_its_stages(const Stmt& launch) const;

  const Workload& workload_;
  const ExecutionModel& execution_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, bool> known_;  // by the launch's text
};

}  // namespace tunesmith
