// Programs that call an intrinsic of a level's groups, whose operands no single thread can touch: others of
// the same extension bring them and take them away.
#pragma once

#include <optional>
#include <vector>

#include "tunesmith/lower/lower.h"

namespace tunesmith::conformance {

/// Nothing where no other intrinsic takes away what this one leaves with a group: it is then called on the
/// way to one that can be checked by itself. Throws ScheduleError where it cannot be called.
std::optional<Program> calling_together(const TensorIntrinsic& intrinsic,
                                        const std::vector<TensorIntrinsicPtr>& others,
                                        const ExecutionModel& execution);

}  // namespace tunesmith::conformance
