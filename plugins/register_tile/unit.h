// Instructions for tiles: dot products for the lanes of a vector
// (bytes or bf16), and products of two tiles (a matrix unit).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tunesmith/stable/module.h>

#include "tile_form.h"

namespace tunesmith {

/// For one row: C[j] += A[k] * B[j, k] with this many lanes j and neighbours k per
/// call. For several rows i: C[i, j] += A[i, s, k] * B[s, j, k] with steps s, too.
struct Unit {
  std::string name;  // of the tensor intrinsic
  int64_t rows = 1;
  int64_t lanes = 1;
  int64_t steps = 1;
  int64_t depth = 1;
  // Only for several rows:
  std::string zero = {};   // the intrinsic that initialises a tile of sums
  std::string store = {};  // stores a tile in rows with a stride; "": there is none
  int64_t registers = 3;   // number of tiles in registers

  bool is_matrix_unit() const { return rows > 1; }
};

/// For each of these extensions the best fitting intrinsic with the block's types, if any: its
/// depth and steps divide the innermost reduction, its rows the last row iterator, and its
/// lanes the columns of groups; without groups, columns fill at least half its lanes, and the
/// innermost reduction half the depth of a unit that is no matrix unit: it is padded.
/// `tensorize` proves that it computes what the block does. A matrix unit has as many registers
/// as the quantity EXTENSION_registers says, and an intrinsic that initialises its tiles.
std::vector<Unit> find_units(const Block& block, const TileForm& form, const ModuleContext& context,
                             const std::vector<std::string>& extensions);

}  // namespace tunesmith
