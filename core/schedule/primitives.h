// The primitives as free functions on a Program: each changes it to an equivalent one, or throws
// ScheduleError and leaves it alone. Contracts stand at the methods of Schedule
// (tunesmith/schedule/schedule.h).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "tunesmith/ir/program.h"

namespace tunesmith {

// ---- Loops ----

std::vector<LoopId> split(Program& program, LoopId loop, std::span<const std::optional<int64_t>> factors);

}  // namespace tunesmith
