// Which sketches a block gets: what is read where, which loop runs outermost, which sizes go together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tunesmith/stable/module.h>

#include "group.h"
#include "tile.h"
#include "tile_form.h"
#include "tile_sizes.h"
#include "unit.h"

namespace tunesmith {

/// Where an operand is copied: nowhere, in panels inside the nest or ahead of it, or ahead as a whole with
/// the columns last.
enum class Packing { None, Inside, Ahead, AheadAsAWhole };

struct Plan {
  TileSizes sizes;
  ColumnOrder order = ColumnOrder::Outermost;
  Packing packing = Packing::None;
  bool in_place = false;  // padding is read where it is
};

/// What the plans for a block have in common.
struct Subject {
  TileForm form;
  int64_t lanes = 1;  // of a vector of results
  std::optional<Unit> unit;
  bool turned = false;  // its columns were rows: what it reads is laid along them
  bool half = false;    // vectors are of half the width, and tiles of as many as divide the columns
};

/// Choices of the user's for the sizes.
struct SizeOptions {
  std::vector<int64_t> row_tiles;
  std::vector<int64_t> column_vectors;
  std::vector<int64_t> steps;
  std::vector<int64_t> panel_vectors;
};

/// `vector_registers`: that a tile may take.
std::vector<Plan> plans_for(const Subject& subject, const Program& program, const Group& group,
                            const SizeOptions& given, int64_t vector_registers);

/// Producers that pad what the block alone reads: elements of a buffer, or a number.
std::vector<std::string> padding_of(const Program& program, const Block& block);

/// Those of `sizes` that pass; `otherwise` where none does.
template <typename Test>
std::vector<int64_t> chosen(const std::vector<int64_t>& sizes, const Test& test, int64_t otherwise) {
  std::vector<int64_t> found;
  for (const int64_t size : sizes) {
    if (test(size)) found.push_back(size);
  }
  if (found.empty()) found.push_back(otherwise);
  return found;
}

}  // namespace tunesmith
