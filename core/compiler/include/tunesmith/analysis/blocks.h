// Queries about blocks that transformation modules use.
#pragma once

#include <vector>

#include "tunesmith/ir/program.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Is every iteration variable bound to its own loop variable or to a constant, as before any transformation?
bool is_trivially_bound(const Block& block);

/// Is it a reduction that reuses its inputs, so that tiling pays? Such a block is trivially bound, has one
/// write, a reduction iterator, and a read that is independent of a spatial iterator.
bool needs_tiling(const Block& block);

/// Are all iteration variables spatial, and the indices of the only store these variables (in any order) or
/// constants?
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

/// The coefficient of the variable in the offset of the block's store, in elements: 1 along the contiguous
/// axis, 0 if the variable does not occur.
int64_t store_stride(const Block& block, const Var& loop_var);

/// Does the block write an output of the program?
bool writes_output(const Program& program, const Block& block);

}  // namespace tunesmith
#pragma GCC visibility pop
