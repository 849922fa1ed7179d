// Instructions that a tile may be made of: dot products for the lanes of a vector, as of bytes or of bf16,
// and products of two tiles, as a matrix unit has them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tunesmith/stable/module.h>

#include "tile_form.h"

namespace tunesmith {

/// Of one row: C[j] += A[k] * B[j, k] of so many lanes j and neighbours k at once.
/// Of several rows i: C[i, j] += A[i, s, k] * B[s, j, k] of so many steps s, too.
struct Unit {
  std::string name;  // of the tensor intrinsic
  int64_t rows = 1;
  int64_t lanes = 1;
  int64_t steps = 1;
  int64_t depth = 1;
  // Of several rows alone:
  std::string zero = {};   // the intrinsic that begins a tile of sums
  std::string store = {};  // the one that stores it in rows that may be apart; "": there is none
  int64_t registers = 3;   // how many tiles they hold

  bool is_matrix_unit() const { return rows > 1; }
};

/// Of each of these extensions the intrinsic that has the block's types and fits best, where one does: its
/// depth and steps divide the innermost reduction, its rows the last iterator of rows, and its lanes the
/// columns of groups; where there are no groups, columns fill at least half its lanes. That it computes what
/// the block does, `tensorize` proves. A matrix unit has as many registers as the quantity
/// EXTENSION_registers says, and an intrinsic that begins its tiles.
std::vector<Unit> find_units(const Block& block, const TileForm& form, const ModuleContext& context,
                             const std::vector<std::string>& extensions);

}  // namespace tunesmith
