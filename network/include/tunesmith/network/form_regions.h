// Divides a network into regions. Each region becomes one kernel.
#pragma once

#include <cstddef>
#include <vector>

#include "tunesmith/network/network.h"

#pragma GCC visibility push(default)
namespace tunesmith::network {

/// Indices in Network::nodes, ascending. Only nodes that move elements without computing may be in several
/// regions: each reader has its own copy.
struct Region {
  std::vector<size_t> nodes;
  std::vector<TensorIndex> results;  ///< tensors that other regions or the network's caller read
};

/// Forms regions. Every node is in a region, except nodes whose elements are in place already (Tensor::part);
/// a region comes after the regions whose results it reads. Depends on the structure of the programs only, so
/// that it fuses any importer's operators.
///
///   epilogues   a reduction takes the following element-wise nodes, if nothing else reads what lies between;
///               after a product or a convolution no result may be larger than its own, after another
///               reduction no larger than its input; views on the way that only rearrange join, too
///   rows        a reduction takes the following reductions in the same way: softmax, layer norm
///   prologues   a reduction that is no product takes the preceding element-wise nodes; a product without
///               windows takes at most two; one that chooses by comparing (ArgMax, TopK) takes none that
///               rounds, since two right programs may then choose differently
///   attention   product of data, reduction over its rows, product of data
///   views       nodes that move elements of one tensor, or widen narrow integers, join each reader
///
/// A region has up to 128 statements. All tensors must have known shapes (fix_shapes). Throws UserError,
/// naming the node, if the workload language refuses it.
std::vector<Region> form_regions(const Network& network);

}  // namespace tunesmith::network
#pragma GCC visibility pop
