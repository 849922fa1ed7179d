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

/// One part of the reduction after the other is summed for a block of panels, in memory: the rows' share of
/// the part stays in the second-level cache, and so do the block's results and the panels' parts.
struct SumBlocks {
  int64_t terms = 0;   // of a part
  int64_t panels = 0;  // of a block
};

struct Plan {
  TileSizes sizes;
  ColumnOrder order = ColumnOrder::Outermost;
  Packing packing = Packing::None;
  bool in_place = false;  // padding is read where it is
  std::optional<SumBlocks> blocks = {};
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

/// What plans need to know of the processor.
struct Processor {
  int64_t vector_registers = 0;  // that a tile may take
  int64_t cores = 1;
  int64_t second_cache = 0;  // bytes
};

Processor processor_of(const DeviceModel& device);

std::vector<Plan> plans_for(const Subject& subject, const Program& program, const Group& group,
                            const SizeOptions& given, const Processor& processor);

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
