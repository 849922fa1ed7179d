// Copies of an operand in panels: as many columns as a tile is wide lie together for each step of the
// reduction.
#pragma once

#include <cstdint>
#include <vector>

#include <tunesmith/stable/module.h>

namespace tunesmith {

/// Copies, ahead of the nest, what the columns move along and rows use again, with the columns last.
std::vector<BlockRV> copy_into_panels(Schedule& schedule, BlockRV block);

/// A panel whose copy was moved into a nest, behind so many loops, is copied in squares where its columns are
/// not the last dimension of what it is read from: each line of that is read once.
void copy_in_squares(Schedule& schedule, BlockRV copy, size_t outside);

/// Panels of so many columns lie one after the other, and are written in that order. `depth`: so many
/// neighbours along the last dimension but one lie together for each column.
void lay_panel_by_panel(Schedule& schedule, BlockRV copy, int64_t width, int64_t depth);

/// Blocks of so many panels lie one after the other; of each block one part of the reduction, of so many
/// terms, lies after the other, in all its panels.
void lay_blocks_of_panels(Schedule& schedule, BlockRV copy, int64_t width, int64_t panels, int64_t terms);

}  // namespace tunesmith
