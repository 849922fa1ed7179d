// A result with few columns: its last rows take their place along vectors.
#pragma once

#include <cstdint>
#include <optional>

#include <tunesmith/stable/module.h>

#include "group.h"
#include "tile_form.h"

namespace tunesmith {

/// The last iterator of rows, of which each phase is at least `lanes` long, becomes the last dimension of the
/// group's block's result, and of what its reads with it read; the reader, or a copy where there is none,
/// puts the result in order. `group` may get that reader. Nothing, and `schedule` is of no further use, where
/// a read does not move by steps of one with the rows.
std::optional<Schedule> turn_columns(Schedule schedule, Group& group, const TileForm& form, int64_t lanes);

}  // namespace tunesmith
