// The n-th read or write of a block, as instructions count them.
//
// Two loads of one buffer at equal indices are one access, at different indices
// two: in `sum(k) X[i, k] * X[j, k]` the block has two reads. An instruction
// changes only the access that it names, and no other access of the same buffer.
#pragma once

#include <vector>

#include "tunesmith/ir/regions.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Loads of the block's body, then of its init, in text order, without the load
/// of the element that the statement itself stores (an accumulator). Indices are
/// as written: unlike in reads_of(), they may use the iterators of inner blocks.
std::vector<Access> read_accesses(const Block& block);

/// Stores in the block's body, in text order.
std::vector<Access> write_accesses(const Block& block);

}  // namespace tunesmith
#pragma GCC visibility pop
