// A block that could be computed where its producer is: what reverse_compute_inline and
// fuse_reduction_epilogue share.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analysis/buffer_uses.h"

namespace tunesmith {

/// Nothing when every load of `buffer` in the block, whose body is one store, is at
/// [iterator, iterator, 0, ...]  with each iterator of the block once and over the whole of its dimension.
/// `iter_of_dim` gets the iterator of each index, -1 at an index 0.
std::optional<Refusal> element_reader_refusal(const Block& block, const Buffer& buffer,
                                              std::vector<int>* iter_of_dim);

/// Nothing when what the consumer reads besides `buffer` is finished where the producer stands.
std::optional<Refusal> inputs_before_refusal(const Program& program, const Stage& consumer,
                                             const Buffer& buffer, const Block& producer);

/// The iterators of the block when the element at `indices` is read.
Substitution iters_at(const Block& block, const std::vector<int>& iter_of_dim, std::span<const Expr> indices);

}  // namespace tunesmith
