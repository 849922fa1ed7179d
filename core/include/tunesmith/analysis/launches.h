// The launches of a lowered program for a machine with levels that synchronise.
#pragma once

#include <vector>

#include "tunesmith/ir/execution_model.h"
#include "tunesmith/ir/program.h"

namespace tunesmith {

/// The statements of the root, each of which is one launch, through the allocations of what all share.
std::vector<const Stmt*> launches_of(const Program& lowered, const ExecutionModel& execution);

}  // namespace tunesmith
