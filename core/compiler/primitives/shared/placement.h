// What compute_at and reverse_compute_at share: the new loops of a moved block, and whether its inputs are
// there.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "analysis/buffer_uses.h"
#include "analysis/touched_region.h"

namespace tunesmith {

/// A place in the body of a loop: directly before or after one of its statements.
struct Place {
  Loop* loop = nullptr;
  Stmt* anchor = nullptr;
  bool after = false;
};

/// New loops around a block, outermost first, and what they bind.
struct LoopNest {
  std::vector<IterDomain> loops;
  std::vector<Expr> bindings;
  Expr predicate;
};

/// One loop "ax0", "ax1", ... for each range of more than one value; the predicate clips to the iterators'
/// domains where that is needed. `analyzer` knows the loops around and gets the new ones.
LoopNest make_nest(const Block& block, std::span<const DimRange> ranges, Analyzer& analyzer);

/// Takes the block out of the tree and puts it, within the nest, at the place.
void move_block(Program& program, Block& block, LoopNest nest, const Place& place);

/// Nothing when all that `block` reads there is finished: what is written elsewhere stands before the place,
/// no loop around the place carries its reduction, and where the two share loops one iteration of these
/// writes all that one iteration of these reads. `analyzer` knows the loops around the block at its place.
/// Buffers in `checked` are left out.
std::optional<Refusal> inputs_refusal(const Program& program, const Stage& stage, const LoopNest& nest,
                                      const Place& place, const Analyzer& analyzer,
                                      std::span<const Buffer> checked);

/// Nothing when blocks may be moved into `loop`: it is in the same scope, and no vectorized loop is around.
std::optional<Refusal> target_refusal(const Stage& stage, const Loop& loop);

/// The first loop at or above `loop` in its scope that a reduction of `block` runs over, or null.
const Loop* reduction_loop_around(const Block& block, const Stmt& at);

}  // namespace tunesmith
