// Exchanges rows and columns of a result with few columns: its last rows then run along vectors.
#pragma once

#include <cstdint>
#include <optional>

#include <tunesmith/stable/module.h>

#include "group.h"
#include "tile_form.h"

namespace tunesmith {

/// Makes the last row iterator the last dimension of the block's result and of the
/// operands that use it. The group's reader restores the order; without a reader the
/// group gets a copy that does. Nothing, with `schedule` invalid, if a phase of the
/// rows is shorter than `lanes`, or an operand does not move by steps of one with them.
std::optional<Schedule> turn_columns(Schedule schedule, Group& group, const TileForm& form, int64_t lanes);

}  // namespace tunesmith
