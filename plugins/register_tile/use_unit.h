// Replaces a tile's innermost loops by calls of a unit.
#pragma once

#include <tunesmith/stable/module.h>

#include "tile.h"
#include "unit.h"

namespace tunesmith {

/// One call of the unit for the innermost loops given by `shape`, in nests of make_tiles().
/// Sums of a matrix unit are laid out tile by tile, and initialised by another call.
void use_unit(Schedule& schedule, BlockRV block, const TileNest& nest, const TileShape& shape,
              const Unit& unit);

/// `copy` copies a matrix unit's sums at the end of a tile: stores
/// each of its tiles by a call, if the unit has one for that.
void store_tiles(Schedule& schedule, BlockRV copy, const TileNest& nest, const Unit& unit);

}  // namespace tunesmith
