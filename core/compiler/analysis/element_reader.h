// Finds blocks that can be computed in their producer's place,
// for reverse_compute_inline and fuse_reduction_epilogue.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analysis/buffer_uses.h"

namespace tunesmith {

/// Nothing if every load of `buffer` in the block (whose body is one store) has the indices [iterator,
/// iterator, 0, ...], with each iterator of the block once and covering its dimension. `indices` receives
/// them.
std::optional<Refusal> element_reader_refusal(const Block& block, const Buffer& buffer,
                                              std::vector<Expr>* indices);

/// Nothing if the consumer's other inputs are complete at the producer's place.
std::optional<Refusal> inputs_before_refusal(const Program& program, const Stage& consumer,
                                             const Buffer& buffer, const Block& producer);

/// The iterators of an element reader for which the element that it reads at `indices` is the one at
/// `values`.
Substitution reader_iters(const Block& block, std::span<const Expr> indices, std::span<const Expr> values);

}  // namespace tunesmith
