// For machines whose threads have vectors only in loads and stores: which
// accesses are a single instruction, and the scalar expression of each lane.
#pragma once

#include <cstdint>

#include "tunesmith/affine/simplify.h"
#include "tunesmith/ir/execution_model.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith {

/// The scalar value of one lane. A scalar expression is returned unchanged.
Expr in_lane(const Expr& expr, int lane);

/// The scalar condition that equals `condition` in every
/// lane; null if it cannot be proved to be the same in all.
Expr same_in_all_lanes(const Expr& condition, const Analyzer& ranges);

/// Is the vector access in a lowered program (one index per access) a single instruction of
/// a thread? Its elements must be contiguous in a memory that is not private to the thread,
/// have a total size that is a power of two of at most `max_bytes`, begin at a multiple of
/// it (by scope alignment and index), and be accessed all or none. False for scalars.
bool is_one_access(const Stmt& stmt, const AccessSite& access, const ExecutionModel& execution,
                   int64_t max_bytes);

}  // namespace tunesmith
