// Pads columns and reductions to multiples of a unit's calls.
#pragma once

#include <cstdint>
#include <optional>

#include <tunesmith/stable/module.h>

#include "plans.h"

namespace tunesmith {

/// Is there a unit whose calls, in panels of this width, do not divide the columns or the innermost
/// reduction?
bool is_padded(const Block& block, const Subject& subject, int64_t width);

/// Pads such a block, and the operand's panels accordingly; if another block already pads the other operand,
/// merges both paddings into one copy. If columns are padded, returns the block that copies the result back,
/// through its elementwise consumer.
std::optional<BlockRV> pad_for_unit(Schedule& schedule, BlockRV block, const Subject& subject, int64_t width);

/// Inlines the padding of an operand into its copy in panels.
void inline_padded_operand(Schedule& schedule, BlockRV panels);

}  // namespace tunesmith
