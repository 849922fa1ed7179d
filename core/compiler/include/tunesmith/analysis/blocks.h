// Queries about blocks that transformation modules use.
#pragma once

#include <vector>

#include "tunesmith/ir/program.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Every iteration variable is bound to a loop variable of its own
/// or to a constant: no transformation has changed the block yet.
bool is_trivially_bound(const Block& block);

/// A reduction that reuses what it reads: one write, trivially bound, at least one reduction iterator,
/// and at least one read that is independent of some spatial iterator. Such blocks gain from tiling.
bool needs_tiling(const Block& block);

/// Every iteration variable is spatial, and the only store is indexed by
/// the iteration variables themselves (in any order) or by constants.
bool is_elementwise(const Block& block);

/// Products of the extents of the spatial and of the reduction iterators.
struct IterationCount {
  int64_t spatial = 1;
  int64_t reduction = 1;
};
IterationCount iteration_count(const Block& block);

/// Which kinds of iterators a loop is bound to.
struct LoopUse {
  bool spatial = false;
  bool reduction = false;
  bool opaque = false;
};
/// The union over all blocks under the loop.
LoopUse use_of(const Loop& loop);
/// For one block.
LoopUse use_of(const Loop& loop, const Block& block);

/// The coefficient of the variable in the offset of the block's store, in elements: 1
/// for the axis along which stores are contiguous, 0 when the variable does not occur.
int64_t store_stride(const Block& block, const Var& loop_var);

/// Does the block write an output of the program?
bool writes_output(const Program& program, const Block& block);

}  // namespace tunesmith
#pragma GCC visibility pop
