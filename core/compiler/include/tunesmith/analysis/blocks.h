// Questions that transformation modules ask about blocks.
#pragma once

#include <vector>

#include "tunesmith/ir/program.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Every iteration variable is bound to a loop variable of its own, or to a constant: nothing has touched the
/// block yet.
bool is_trivially_bound(const Block& block);

/// A reduction that reuses what it reads: one write, trivially bound, at least one reduction iterator, and at
/// least one read that does not depend on some spatial iterator. Tiling pays for these.
bool needs_tiling(const Block& block);

/// Every iteration variable is spatial, one store, indexed by the iteration variables themselves in some
/// order (or constants).
bool is_elementwise(const Block& block);

/// Products of the extents of the spatial and of the reduction iterators.
struct IterationCount {
  int64_t spatial = 1;
  int64_t reduction = 1;
};
IterationCount iteration_count(const Block& block);

/// Which sorts of iterators a loop drives.
struct LoopUse {
  bool spatial = false;
  bool reduction = false;
  bool opaque = false;
};
/// Over all blocks under the loop.
LoopUse use_of(const Loop& loop);
/// In one block.
LoopUse use_of(const Loop& loop, const Block& block);

/// The variable's coefficient in the offset of the block's store, in elements: 1 for the axis along which
/// stores are contiguous, 0 when it does not occur.
int64_t store_stride(const Block& block, const Var& loop_var);

/// Does the block write an output of the program?
bool writes_output(const Program& program, const Block& block);

}  // namespace tunesmith
#pragma GCC visibility pop
