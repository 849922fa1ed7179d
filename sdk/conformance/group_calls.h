// Programs that call an intrinsic of a level's groups, whose operands no single
// thread can access: other intrinsics of the extension load and store them.
#pragma once

#include <optional>
#include <vector>

#include "tunesmith/lower/lower.h"

namespace tunesmith::conformance {

/// Nothing if no other intrinsic stores the result of this one: it is then checked as
/// part of a program for another intrinsic. Throws ScheduleError if it cannot be called.
std::optional<Program> calling_together(const TensorIntrinsic& intrinsic,
                                        const std::vector<TensorIntrinsicPtr>& others,
                                        const ExecutionModel& execution);

}  // namespace tunesmith::conformance
