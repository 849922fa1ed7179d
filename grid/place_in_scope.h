// Places of a launch's buffers in the memory of the scopes that threads share.
#pragma once

#include "tunesmith/ir/execution_model.h"
#include "tunesmith/ir/stmt.h"

namespace tunesmith {

/// Sets the offsets of the launch's allocations in scopes of which several threads use one instance: each
/// begins where the scope's alignment allows. Two may share bytes where all that the threads do with one
/// stands before all that they do with the other, and a barrier between. Where none does and both are large,
/// one is put there.
void place_in_scopes(Stmt& launch, const ExecutionModel& model);

}  // namespace tunesmith
