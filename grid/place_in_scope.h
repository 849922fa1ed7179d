// Places a launch's buffers in the memory of scopes that threads share.
#pragma once

#include "tunesmith/ir/execution_model.h"
#include "tunesmith/ir/stmt.h"

namespace tunesmith {

/// Sets the offsets of the launch's allocations in scopes whose instances
/// several threads share, with the scope's alignment. Two buffers may
/// overlap if all uses of one precede all uses of the other with a
/// barrier in between. If there is none and both are large, one is added.
void place_in_scopes(Stmt& launch, const ExecutionModel& model);

}  // namespace tunesmith
