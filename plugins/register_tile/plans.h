// Chooses a block's sketches: where operands are copied, which loop is outermost, which sizes are compatible.
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

/// Where an operand is copied: nowhere, to panels inside the nest
/// or before it, or before it as a whole with the columns last.
enum class Packing { None, Inside, Ahead, AheadAsAWhole };

/// For a block of panels, sums the parts of the reduction one after another in memory: the rows' share of a
/// part stays in the second-level cache, as do the block's results and the panels' parts.
struct SumBlocks {
  int64_t terms = 0;   // per part
  int64_t panels = 0;  // per block
};

struct Plan {
  TileSizes sizes;
  ColumnOrder order = ColumnOrder::Outermost;
  Packing packing = Packing::None;
  bool in_place = false;  // padding is read in place
  std::optional<SumBlocks> blocks = {};
};

/// Common input of a block's plans.
struct Subject {
  TileForm form;
  int64_t lanes = 1;  // per vector of results
  std::optional<Unit> unit;
  bool turned = false;  // columns and rows are exchanged: operands are laid out along the new columns
  bool half = false;    // vectors are of half the width, and tiles of as many as divide the columns
};

/// The user's choices of sizes.
struct SizeOptions {
  std::vector<int64_t> row_tiles;
  std::vector<int64_t> column_vectors;
  std::vector<int64_t> steps;
  std::vector<int64_t> panel_vectors;
};

/// Properties of the processor used by plans.
struct Processor {
  int64_t vector_registers = 0;  // available to a tile
  int64_t cores = 1;
  int64_t second_cache = 0;  // bytes
};

Processor processor_of(const DeviceModel& device);

std::vector<Plan> plans_for(const Subject& subject, const Program& program, const Group& group,
                            const SizeOptions& given, const Processor& processor);

/// Producers that pad an input that only this block reads: elements of a buffer, or a number.
std::vector<std::string> padding_of(const Program& program, const Block& block);

/// The `sizes` that pass the test; `otherwise` if none does.
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
