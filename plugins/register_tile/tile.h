// The loops of a register tile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <tunesmith/stable/module.h>

namespace tunesmith {

struct TileShape {
  IntRV rows;
  IntRV vectors;               // in a row
  int64_t lanes = 1;           // of a vector
  std::optional<IntRV> steps;  // of the innermost reduction that are written out; nothing: one
  bool columns_outermost = true;
  int64_t depth = 1;  // neighbours of the innermost reduction that a vector takes at once
};

/// Loops outside the reductions.
struct TileNest {
  size_t loops = 0;    // how many
  size_t columns = 0;  // which of them is over panels of columns
};

/// Cuts and orders the loops of the blocks, which have the same iterators: outside the reductions, then
/// rows x vectors x lanes, and the depth. The nests of several blocks share what is outside their reductions.
TileNest make_tiles(Schedule& schedule, const std::vector<BlockRV>& blocks, const TileShape& shape);

}  // namespace tunesmith
