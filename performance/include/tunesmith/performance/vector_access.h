// Vectors on machines whose threads have none but in their loads and stores: which accesses are one
// instruction of a thread, and what stands in each lane of the rest.
#pragma once

#include <cstdint>

#include "tunesmith/affine/simplify.h"
#include "tunesmith/ir/execution_model.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith {

/// The expression in one of its lanes: a scalar. One that is scalar is itself.
Expr in_lane(const Expr& expr, int lane);

/// The scalar condition that is `condition` in each lane; null where it cannot be shown to be the same in
/// all.
Expr same_in_all_lanes(const Expr& condition, const Analyzer& ranges);

/// Is the vector access in a lowered program (one index an access) one instruction of a thread? Its elements
/// lie side by side in a memory that is not the thread's own, are a power of two of at most `max_bytes`
/// together, begin at a multiple of their bytes, as the alignment of their scope and the index show, and all
/// of them are accessed or none. False for scalars.
bool is_one_access(const Stmt& stmt, const AccessSite& access, const ExecutionModel& execution,
                   int64_t max_bytes);

}  // namespace tunesmith
