// The order in which the blocks of a launch take the tiles of matrices: those that run at once, which
// begin one after the other, share rows and columns of the factors in the cache of all.
#pragma once

#include <cstdint>
#include <optional>

#include "tunesmith/ir/stmt.h"

namespace tunesmith {

/// On a loop of a launch over tiles, row by row: the number of tiles of a row, and how many rows a group has.
/// Blocks take the first tiles of a group's rows, then their second ones, and so on, and then those of the
/// next group, which may have fewer rows. Does not change results: blocks may run in any order.
inline constexpr const char* kTileColumns = "tile_columns";
inline constexpr const char* kTileGroup = "tile_group";

struct TileOrder {
  int64_t columns = 1, group = 1;
};

/// The order that the loop is annotated with; nothing where it is that of its iterations. Throws LowerError
/// if the annotations tell no order of all its iterations.
std::optional<TileOrder> tile_order_of(const Loop& loop);

}  // namespace tunesmith
