// Pads columns that a unit's calls do not divide.
#pragma once

#include <cstdint>

#include <tunesmith/stable/module.h>

#include "tile_form.h"

namespace tunesmith {

/// Pads the block's columns to a multiple of `width`, and the operand's panels accordingly:
/// returns the block that copies the result back, through its elementwise consumer.
BlockRV pad_columns(Schedule& schedule, BlockRV block, const TileForm& form, int64_t width);

/// Inlines the padding of an operand into its copy in panels.
void inline_padded_operand(Schedule& schedule, BlockRV panels);

}  // namespace tunesmith
