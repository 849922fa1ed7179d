// The launches of a lowered program for a machine with levels that synchronise.
#pragma once

#include <vector>

#include "tunesmith/ir/execution_model.h"
#include "tunesmith/ir/program.h"

namespace tunesmith {

/// Each statement of the root is one launch; allocations of memory shared by all threads are skipped.
std::vector<const Stmt*> launches_of(const Program& lowered, const ExecutionModel& execution);

}  // namespace tunesmith
