// Columns that the calls of a unit do not divide.
#pragma once

#include <cstdint>

#include <tunesmith/stable/module.h>

#include "tile_form.h"

namespace tunesmith {

/// Has the block's columns in a multiple of `width`, and the operand's padded in panels that are still to be
/// laid: answers the block that copies the result to where it was, through what reads it element by element.
BlockRV pad_columns(Schedule& schedule, BlockRV block, const TileForm& form, int64_t width);

/// What pads an operand goes into the copy of it in panels.
void inline_padded_operand(Schedule& schedule, BlockRV panels);

}  // namespace tunesmith
