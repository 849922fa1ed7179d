// A program as it is, by the threads of a device.
#pragma once

#include <optional>

#include "tunesmith/ir/execution_model.h"
#include "tunesmith/trace/schedule.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// The outermost spatial loops of each nest are one, which is distributed over blocks and threads where that
/// is legal; each thread computes its elements in the order as written. Nothing for a machine without
/// threads.
std::optional<Schedule> in_threads(const Program& program, const ExecutionModel& machine);

}  // namespace tunesmith
#pragma GCC visibility pop
