// Limits how far the loops of a smaller instance may shrink.
#pragma once

#include "tunesmith/ir/execution_model.h"
#include "tunesmith/ir/program.h"

namespace tunesmith {

/// The minimum number of iterations of a loop: the first and last of a launch; a serial loop keeps one more
/// in between.
inline constexpr int64_t kMinBound = 2;
inline constexpr int64_t kMinSerial = 3;

/// Are the loops of `smaller` those of `full`, with the same number of iterations, or
/// fewer for launch and serial loops: at least two for a launch, three for a serial
/// loop, stages plus one for a pipelined one? Ignores loops with variable extents.
bool loops_correspond(const Program& full, const Program& smaller, const ExecutionModel& execution);

}  // namespace tunesmith
