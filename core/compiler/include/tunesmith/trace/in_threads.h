// Distributes an unscheduled program over the threads of a device.
#pragma once

#include <optional>

#include "tunesmith/ir/execution_model.h"
#include "tunesmith/trace/schedule.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Fuses the outermost spatial loops of each nest and, if legal, binds them to blocks and threads; each
/// thread computes its elements in the original order. Nothing for a machine without threads.
std::optional<Schedule> in_threads(const Program& program, const ExecutionModel& machine);

}  // namespace tunesmith
#pragma GCC visibility pop
