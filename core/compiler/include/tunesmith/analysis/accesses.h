// The accesses of a block: what an instruction means by the n-th read or write of a block.
//
// Two loads of one buffer at equal indices are one access, at other indices they are two: in
// `sum(k) X[i, k] * X[j, k]` the block has two reads. An instruction that is given an access leaves the other
// accesses of the same buffer as they are.
#pragma once

#include <vector>

#include "tunesmith/ir/regions.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Loads in the block's body and then in its init, in text order. The load of the element that its own
/// statement stores (an accumulator) is none. Indices are as they stand in the text: unlike those of
/// reads_of(), over the iterators of blocks inside.
std::vector<Access> read_accesses(const Block& block);

/// Stores in the block's body, in text order.
std::vector<Access> write_accesses(const Block& block);

}  // namespace tunesmith
#pragma GCC visibility pop
