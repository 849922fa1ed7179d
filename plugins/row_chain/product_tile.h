// A product inside a row block, as register tiles of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tunesmith/stable/schedule.h>

#include "chain.h"

namespace tunesmith {

/// For both products.
struct TileShape {
  int64_t rows = 1;
  int64_t vectors = 1;
  int64_t lanes = 1;

  int64_t columns() const { return vectors * lanes; }
};

/// Computes the product under `at`, its writer's loop over tiles, and tiles it.
/// `steps`: choices for the number of unrolled reduction steps. Returns its init.
BlockRV tile_product(Schedule& schedule, BlockRV product, LoopRV at, const TileShape& shape,
                     const std::vector<int64_t>& steps);

/// The loops of the writer inside the tile: rows are unrolled, columns are lanes.
void finish_writer(Schedule& schedule, LoopRV rows, LoopRV columns);

/// Copies the operand that moves with the columns into panels of a tile's width, once, before
/// the nest. Returns the copying block; nothing if the operand already has the product's order.
std::optional<BlockRV> lay_operand(Schedule& schedule, BlockRV product, const std::vector<size_t>& rows,
                                   const TileShape& shape);

}  // namespace tunesmith
