// Which sizes of a tile are worth drawing: those whose accumulators and operands fit the vector registers.
#pragma once

#include <cstdint>
#include <vector>

#include <tunesmith/stable/module.h>

#include "tile_form.h"

namespace tunesmith {

/// Choices that go together: each number of rows fits with each number of vectors.
struct TileSizes {
  std::vector<int64_t> outer_rows;  // of the last iterator of rows but one; {1}: one of its iterations
  std::vector<int64_t> rows;        // of the last one
  std::vector<int64_t> vectors;     // in a row
};

/// What bounds the sizes of a block's tiles.
struct TileLimits {
  std::vector<int64_t> row_tiles;  // choices of the user's
  int64_t registers = 1;           // that a tile may take
  int64_t lanes = 1;               // of a vector
};

/// Accumulators, the vectors of a row, and the operand that all of these are multiplied by.
bool fits_registers(int64_t rows, int64_t vectors, int64_t registers);

/// For tiles of so many vectors, rising: those that admit the same rows are one entry. Not empty: where
/// nothing fits, the smallest tile is left.
std::vector<TileSizes> tile_sizes(const Block& block, const TileForm& form, const TileLimits& limits,
                                  const std::vector<int64_t>& vectors);

}  // namespace tunesmith
