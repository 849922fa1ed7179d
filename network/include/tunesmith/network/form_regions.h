// Which nodes of a network become one kernel.
#pragma once

#include <cstddef>
#include <vector>

#include "tunesmith/network/network.h"

#pragma GCC visibility push(default)
namespace tunesmith::network {

/// Positions in Network::nodes, ascending. Only nodes that move elements without computing anything are in
/// several regions: each reader has its own.
struct Region {
  std::vector<size_t> nodes;
  std::vector<TensorIndex> results;  ///< what other regions or the network's caller read of it
};

/// Every node is in a region but those whose elements lie already where they would move them (Tensor::part),
/// and each region comes after those whose results it reads. From the structure of
/// the programs alone, so that any importer's operators are fused alike:
///
///   epilogues   a reduction takes the element-wise nodes after it, as far as nothing else reads what lies
///               between; after a product or a convolution no result is larger than its own, after other
///               reductions than what they read; views on the way that only rearrange join, too
///   rows        a reduction takes the reductions after it on the same way: softmax, layer norm
///   prologues   a reduction that is no product takes the element-wise nodes before it; a product without
///               windows takes two at most; one that chooses by comparing (ArgMax, TopK) takes none that
///               rounds, since two right programs may then choose differently
///   attention   product of data, reduction over its rows, product of data
///   views       nodes that move elements of one tensor, or make wider ones of narrow integers, become a part
///               of each reader
///
/// up to 128 statements a region.
/// The shapes of all tensors must be known (fix_shapes). Throws UserError that names a node which the
/// workload language refuses.
std::vector<Region> form_regions(const Network& network);

}  // namespace tunesmith::network
#pragma GCC visibility pop
