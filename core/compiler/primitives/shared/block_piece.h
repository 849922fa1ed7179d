// A block of which some loop around runs only a part of its range.
#pragma once

#include <optional>
#include <vector>

#include "analysis/loop_tools.h"
#include "tunesmith/affine/simplify.h"

namespace tunesmith {

/// [begin, end) of a loop's range, as a loop of its own that starts at 0.
struct LoopPiece {
  const Loop* loop = nullptr;
  int64_t begin = 0;
  int64_t end = 0;
};

/// What a block becomes in a piece: iterators over just the instances that run there, all of which do run.
struct BlockPiece {
  bool runs = true;  // false: its predicate holds nowhere in the piece
  std::vector<IterVar> iters;
  std::vector<Expr> bindings;  // over the loops around the block; the piece's loop starts at 0
  Expr predicate;
  std::vector<Expr> values;  // of the old iterators, over the new ones
  bool holds_first = true;   // the first step of a reduction may be among the instances
};

/// Fills in `result`, or says why the instances cannot be told.
std::optional<Refusal> block_piece_refusal(const Block& block, const LoopPiece& piece, BlockPiece* result);

/// `block`, the original or a copy of it, becomes the piece: `loops` has the copy's loop variables for the
/// original's. Conditions and selects that the new domains decide are gone from the body, the init where the
/// first step of the reduction is elsewhere.
void apply_piece(Block& block, const BlockPiece& piece, const Substitution& loops);

}  // namespace tunesmith
