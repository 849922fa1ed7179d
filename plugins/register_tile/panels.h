// Copies an operand into panels: the columns of a
// tile are contiguous for each step of the reduction.
#pragma once

#include <cstdint>
#include <vector>

#include <tunesmith/stable/module.h>

namespace tunesmith {

/// Copies, before the nest, reads that move with the columns and are reused by rows, with the columns last.
std::vector<BlockRV> copy_into_panels(Schedule& schedule, BlockRV block);

/// Copies a panel inside a nest (under `outside` loops) in squares if its columns
/// are not the last dimension of its source: each source line is then read once.
void copy_in_squares(Schedule& schedule, BlockRV copy, size_t outside);

/// Makes panels of this many columns contiguous, and writes them in that order. `depth`: the number of
/// neighbours along the last dimension but one that are contiguous for each column.
void lay_panel_by_panel(Schedule& schedule, BlockRV copy, int64_t width, int64_t depth);

/// Makes blocks of this many panels contiguous; within a block, the parts of
/// the reduction (of this many terms) follow one another, each with all panels.
void lay_blocks_of_panels(Schedule& schedule, BlockRV copy, int64_t width, int64_t panels, int64_t terms);

}  // namespace tunesmith
