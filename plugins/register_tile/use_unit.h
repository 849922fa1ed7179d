// A tile's innermost loops become calls of a unit.
#pragma once

#include <tunesmith/stable/module.h>

#include "tile.h"
#include "unit.h"

namespace tunesmith {

/// One call of the unit for the innermost loops that `shape` says, in nests that make_tiles() has made. The
/// sums of a matrix unit are laid out tile by tile, and begun by another call.
void use_unit(Schedule& schedule, BlockRV block, const TileNest& nest, const TileShape& shape,
              const Unit& unit);

/// `copy` copies a matrix unit's sums at the end of a tile: each of its tiles is stored by a call, where the
/// unit has one for that.
void store_tiles(Schedule& schedule, BlockRV copy, const TileNest& nest, const Unit& unit);

}  // namespace tunesmith
