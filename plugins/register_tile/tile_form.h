// Classifies the iterators of a reduction as rows, columns and batch of a register tile, and finds the
// operands that every row of tiles reads again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <tunesmith/stable/module.h>

namespace tunesmith {

/// Positions among the block's iterators.
struct TileForm {
  size_t columns = 0;  // along vectors of the result
  std::vector<size_t>
      rows;  // spatial iterators along which a read of the columns is invariant, and so reused
  std::vector<size_t> others;      // other spatial iterators: batches, groups, those with one iteration
  std::vector<size_t> reductions;  // outermost first
  /// Every read moves with the columns, as in a depthwise convolution.
  bool separate_columns = false;
  /// The number of columns per group, where an operand depends only on the group; all columns without groups.
  int64_t group_columns = 0;
  /// The number of last rows after which operands repeat, as the phases of a transposed convolution.
  int64_t period = 1;
};

/// A read that moves with the columns.
struct PackedRead {
  int64_t index = 0;  // in read_accesses()
  Buffer buffer;
  std::vector<size_t> order;  // iterators in a panel's order, columns last
  /// The buffer's dimensions in a panel's order; empty if none is indexed by the columns alone.
  std::vector<size_t> dimensions;
  bool in_order = false;  // columns are contiguous along its last dimension
  bool plain = false;     // each index is an iterator or a constant, so that a copy is no larger
};

/// "", or why the block has no register tile: a constant sentence.
std::string match_tile_form(const Block& block, TileForm* form);

/// Does the block have several groups of columns?
inline bool has_groups(const TileForm& form, const Block& block) {
  return block.iters()[form.columns].extent > form.group_columns;
}

/// Does the read move with the columns of one group?
bool moves_with_columns(const Block& block, const TileForm& form, const Access& read);

/// Reads that move with the columns and not with some rows.
std::vector<PackedRead> packed_reads(const Block& block, const TileForm& form);

}  // namespace tunesmith
