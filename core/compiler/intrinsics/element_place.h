// Which element of a buffer is it, and does it exist? For copies that put zeros where none is.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tunesmith/affine/simplify.h"
#include "tunesmith/ir/expr.h"

namespace tunesmith {

/// Is `condition` exactly that an element with these indices lies inside
/// of the buffer? False also where an index is not shown to be at least 0.
bool says_inside(const Expr& condition, const BufferNode& buffer, std::span<const Expr> indices,
                 const Analyzer& ranges);

/// The indices, one for each dimension, that give the offset and lie inside of the
/// buffer exactly where `inside` holds. Nothing if none are found.
std::optional<std::vector<Expr>> indices_at(const Expr& offset, const Expr& inside, const BufferNode& buffer,
                                            const Analyzer& ranges);

}  // namespace tunesmith
