// Rows of images that lie one after the other, as those of a 1 x 1 convolution, become one iterator: tiles of
// rows then continue from line to line, and one of them at most is not whole.
#pragma once

#include <optional>

#include <tunesmith/stable/module.h>

#include "group.h"
#include "tile_form.h"

namespace tunesmith {

/// Fuses as many of the last iterators of rows as all accesses of the group's blocks, and of its reader, use
/// as neighbouring whole dimensions. Without a reader the block's result gets a copy that is one: `group` is
/// then changed. Nothing, and `schedule` is of no further use, where no two can be fused.
std::optional<Schedule> fuse_rows(Schedule schedule, Group& group, const TileForm& form);

}  // namespace tunesmith
