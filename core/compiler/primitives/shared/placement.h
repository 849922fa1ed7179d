// Shared by compute_at and reverse_compute_at: the new loops of
// a moved block, and whether its inputs are available there.
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "analysis/buffer_uses.h"
#include "analysis/touched_region.h"

namespace tunesmith {

/// A place in a loop's body: directly before or after one of its statements.
struct Place {
  Loop* loop = nullptr;
  Stmt* anchor = nullptr;
  bool after = false;
};

/// New loops around a block, outermost first, and the bindings to them.
struct LoopNest {
  std::vector<IterDomain> loops;
  std::vector<Expr> bindings;
  Expr predicate;
};

/// One loop "ax0", "ax1", ... for each range of more than one value; the predicate clips to the
/// iterators' domains if needed. `analyzer` knows the enclosing loops and receives the new ones.
LoopNest make_nest(const Block& block, std::span<const DimRange> ranges, Analyzer& analyzer);

/// Moves the block, inside the nest, to the place.
void move_block(Program& program, Block& block, LoopNest nest, const Place& place);

/// Nothing if everything that the stage reads is complete at the place: its writers come before, no loop
/// around the place carries their reductions, and if they share loops with the place, each iteration of these
/// loops writes all elements that the same iteration reads. `analyzer` has the ranges of the loops around the
/// place. Ignores buffers in `checked`.
std::optional<Refusal> inputs_refusal(const Program& program, const Stage& stage, const LoopNest& nest,
                                      const Place& place, const Analyzer& analyzer,
                                      std::span<const Buffer> checked);

/// Nothing if blocks may be moved into `loop`: it is in the same scope, and not inside a vectorized loop.
std::optional<Refusal> target_refusal(const Stage& stage, const Loop& loop);

/// The first loop at or above `loop` in its scope that a reduction of `block` runs over, or null.
const Loop* reduction_loop_around(const Block& block, const Stmt& at);

}  // namespace tunesmith
