// The part of a block that runs in a part of an enclosing loop's range.
#pragma once

#include <optional>
#include <vector>

#include "analysis/loop_tools.h"
#include "tunesmith/affine/simplify.h"

namespace tunesmith {

/// The part [begin, end) of a loop's range, as a separate loop from 0.
struct LoopPiece {
  const Loop* loop = nullptr;
  int64_t begin = 0;
  int64_t end = 0;
};

/// A block in a piece: its iterators run over exactly the instances of the piece.
struct BlockPiece {
  bool runs = true;  // false: its predicate holds nowhere in the piece
  std::vector<IterVar> iters;
  std::vector<Expr> bindings;  // over the loops around the block; the piece's loop starts at 0
  Expr predicate;
  std::vector<Expr> values;  // of the old iterators, as expressions of the new ones
  bool holds_first = true;   // the first step of a reduction may be among the instances
};

/// Fills in `result`, or returns why the instances cannot be determined.
std::optional<Refusal> block_piece_refusal(const Block& block, const LoopPiece& piece, BlockPiece* result);

/// Restricts `block`, the original or a copy, to the piece; `loops` maps the original's loop variables to the
/// copy's. Removes predicates and Selects that are constant in the new domains, and the init if the first
/// reduction step is in another piece.
void apply_piece(Block& block, const BlockPiece& piece, const Substitution& loops);

}  // namespace tunesmith
