// The numbered reads and writes of a block, as instructions count them.
//
// Two loads of one buffer are one access if their indices are equal, else two: the block of `sum(k) X[i, k] *
// X[j, k]` has two reads. An instruction changes only the access that it names, and no other access of the
// same buffer.
#pragma once

#include <vector>

#include "tunesmith/ir/regions.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Loads of the block's body, then of its init, in text order, without accumulators (loads of the element
/// that the same statement stores). Unlike in reads_of(), indices may use the iterators of inner blocks.
std::vector<Access> read_accesses(const Block& block);

/// Stores in the block's body, in text order.
std::vector<Access> write_accesses(const Block& block);

}  // namespace tunesmith
#pragma GCC visibility pop
