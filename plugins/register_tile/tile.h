// The loops of a register tile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <tunesmith/stable/module.h>

namespace tunesmith {

/// The position of the loop over column tiles relative to row tiles. Blocks: their
/// number is sampled; they are outermost, and the tiles within one innermost.
enum class ColumnOrder { Outermost, Innermost, Blocks };

struct TileShape {
  IntArg outer_rows = int64_t{1};  // along the last row iterator but one
  IntArg rows = int64_t{1};        // along the last one; for a matrix unit in tiles
  IntArg vectors = int64_t{1};     // per row
  int64_t lanes = 1;               // per vector
  size_t whole_reductions = 0;     // number of innermost ones, which are unrolled completely
  std::optional<IntArg> steps;     // unrolled steps of the innermost reduction; nothing: one
  int64_t part = 0;  // length of the parts in which the innermost reduction is summed; 0: as a whole
  ColumnOrder order = ColumnOrder::Outermost;
  /// The number of column panels for which the parts of a sum
  /// are accumulated in memory; nothing: a tile sums all parts.
  std::optional<int64_t> panels_of_block;
  // The size of one call of a unit besides the lanes:
  int64_t unit_rows = 1;
  int64_t unit_steps = 1;  // of the innermost reduction
  int64_t depth = 1;       // neighbours in each step

  /// The innermost loops that one call replaces.
  size_t loops_of_unit() const { return unit_rows > 1 ? 4 : depth > 1 ? 2 : 1; }
};

/// Loops outside the reductions.
struct TileNest {
  size_t loops = 0;    // how many
  size_t columns = 0;  // index of the loop over panels of columns, or over blocks of them
  size_t parts = 0;    // index of the loop over parts of a sum: one of these, or the first behind them
  size_t steps = 0;    // number of following reductions that are not unrolled
};

/// Splits and orders the loops of the blocks, which have equal iterators: outside the reductions, then
/// rows x vectors x lanes, and the depth; a matrix unit's rows, lanes, steps and depth are innermost.
/// Unrolls rows and vectors. The nests of several blocks share the loops outside their reductions.
TileNest make_tiles(Schedule& schedule, const std::vector<BlockRV>& blocks, const TileShape& shape);

/// Gives each part of the reduction (the loop over parts is from make_tiles()) a separate sum, which the
/// block adds to its result. Returns the block of the parts' sums, which takes the block's place in the tile.
BlockRV sum_in_parts(Schedule& schedule, BlockRV block, const TileShape& shape, const TileNest& nest);

}  // namespace tunesmith
