// The loops of a register tile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <tunesmith/stable/module.h>

namespace tunesmith {

/// Where the loop over tiles along the columns stands among those over tiles along rows. Blocks: their number
/// is drawn; they are outermost, the tiles of one of them innermost.
enum class ColumnOrder { Outermost, Innermost, Blocks };

struct TileShape {
  IntArg outer_rows = int64_t{1};  // of the last iterator of rows but one
  IntArg rows = int64_t{1};        // of the last one; of a matrix unit: tiles along it
  IntArg vectors = int64_t{1};     // in a row
  int64_t lanes = 1;               // of a vector
  size_t whole_reductions = 0;     // the innermost ones, which are written out
  std::optional<IntArg> steps;     // of the innermost reduction that are written out; nothing: one
  int64_t part = 0;  // of the innermost reduction, which is summed in parts of so many; 0: as a whole
  ColumnOrder order = ColumnOrder::Outermost;
  /// Panels of columns for which one part after the other is summed, in memory; nothing: a tile has all
  /// parts.
  std::optional<int64_t> panels_of_block;
  // What one call of a unit takes beside the lanes:
  int64_t unit_rows = 1;
  int64_t unit_steps = 1;  // of the innermost reduction
  int64_t depth = 1;       // neighbours in each of these steps

  /// The innermost loops that one call stands for.
  size_t loops_of_unit() const { return unit_rows > 1 ? 4 : depth > 1 ? 2 : 1; }
};

/// Loops outside the reductions.
struct TileNest {
  size_t loops = 0;    // how many
  size_t columns = 0;  // which of them is over panels of columns, or over blocks of these
  size_t parts = 0;    // which loop is over the parts of a sum: one of them, or the first behind them
  size_t steps = 0;    // reductions behind them that are not written out
};

/// Cuts and orders the loops of the blocks, which have the same iterators: outside the reductions, then
/// rows x vectors x lanes, and the depth; of a matrix unit its rows, lanes, steps and depth are innermost.
/// Rows and vectors are unrolled. The nests of several blocks share what is outside their reductions.
TileNest make_tiles(Schedule& schedule, const std::vector<BlockRV>& blocks, const TileShape& shape);

/// Gives each part of the reduction a sum of its own, which the block adds to its result. make_tiles() has
/// made the loop over the parts. Returns the block of the parts' sums, which has the block's place in the
/// tile.
BlockRV sum_in_parts(Schedule& schedule, BlockRV block, const TileShape& shape, const TileNest& nest);

}  // namespace tunesmith
