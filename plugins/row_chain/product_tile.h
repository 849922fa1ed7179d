// A product inside a row block, as register tiles of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tunesmith/stable/schedule.h>

#include "chain.h"

namespace tunesmith {

/// Of both products.
struct TileShape {
  int64_t rows = 1;
  int64_t vectors = 1;
  int64_t lanes = 1;

  int64_t columns() const { return vectors * lanes; }
};

/// Computes the product under `at`, the loop of its writer that runs over tiles, and tiles it. `steps`:
/// choices for the steps of the reduction that are written out. Answers its initialisation.
BlockRV tile_product(Schedule& schedule, BlockRV product, LoopRV at, const TileShape& shape,
                     const std::vector<int64_t>& steps);

/// The loops of the writer inside the tile: rows are unrolled, columns are lanes.
void finish_writer(Schedule& schedule, LoopRV rows, LoopRV columns);

/// Lays the operand that moves with the columns in panels of a tile's width, once, ahead. Answers the copying
/// block; nothing where the operand lies in the product's order.
std::optional<BlockRV> lay_operand(Schedule& schedule, BlockRV product, const std::vector<size_t>& rows,
                                   const TileShape& shape);

}  // namespace tunesmith
