// How far the loops of a smaller instance may shrink.
#pragma once

#include "tunesmith/ir/execution_model.h"
#include "tunesmith/ir/program.h"

namespace tunesmith {

/// A loop keeps so many of its iterations at least: the first and the last of a launch, and of a serial loop
/// one between them.
inline constexpr int64_t kMinBound = 2;
inline constexpr int64_t kMinSerial = 3;

/// Are the loops of `smaller` those of `full`, each with as many iterations, or with fewer where it is one of
/// a launch or a serial one: of a launch two at least, of serial ones three, of those that are pipelined one
/// more than stages? Loops whose extent is not constant are not compared.
bool loops_correspond(const Program& full, const Program& smaller, const ExecutionModel& execution);

}  // namespace tunesmith
