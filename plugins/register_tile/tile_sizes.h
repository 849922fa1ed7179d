// The tile sizes worth sampling: those whose accumulators and operands fit the vector registers.
#pragma once

#include <cstdint>
#include <vector>

#include <tunesmith/stable/module.h>

#include "tile_form.h"

namespace tunesmith {

/// Compatible choices: each number of rows fits with each number of vectors.
struct TileSizes {
  std::vector<int64_t> outer_rows;  // along the last row iterator but one; {1}: a single iteration
  std::vector<int64_t> rows;        // along the last one
  std::vector<int64_t> vectors;     // per row
};

/// Limits of a block's tile sizes.
struct TileLimits {
  std::vector<int64_t> row_tiles;  // the user's choices
  int64_t registers = 1;           // available to a tile
  int64_t lanes = 1;               // per vector
};

/// Counts accumulators, the vectors of a row, and the operand that is multiplied with all of these.
bool fits_registers(int64_t rows, int64_t vectors, int64_t registers);

/// For increasing numbers of vectors: those with equal rows are merged
/// into one entry. Not empty: if nothing fits, the smallest tile remains.
std::vector<TileSizes> tile_sizes(const Block& block, const TileForm& form, const TileLimits& limits,
                                  const std::vector<int64_t>& vectors);

}  // namespace tunesmith
