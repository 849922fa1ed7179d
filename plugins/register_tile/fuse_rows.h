// Fuses contiguous rows of images (as in a 1 x 1 convolution) into one
// iterator: tiles then continue from line to line, and at most one is partial.
#pragma once

#include <optional>

#include <tunesmith/stable/module.h>

#include "group.h"
#include "tile_form.h"

namespace tunesmith {

/// Fuses as many of the last row iterators as all accesses of the group's blocks and its reader use as
/// adjacent whole dimensions. Without a reader, adds a copy of the result, which becomes the reader in
/// `group`. Nothing if no two can be fused; `schedule` is then invalid.
std::optional<Schedule> fuse_rows(Schedule schedule, Group& group, const TileForm& form);

}  // namespace tunesmith
