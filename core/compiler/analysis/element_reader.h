// From what a block reads or writes back to its iterators, for primitives
// that compute a block in another's place.
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

/// The spatial iterators of the instance that writes the element at `indices`, of a block whose body is one
/// store; nothing when they cannot be told.
std::optional<Substitution> writer_iters(const Block& block, std::span<const Expr> indices);

}  // namespace tunesmith
