// The fixed structural order of expressions.
#pragma once

#include "tunesmith/ir/expr.h"

namespace tunesmith::affine {

/// Negative, 0 or positive. Variables come first, by serial; then by kind and operands. No address takes
/// part, so that two different buffers of one name compare as 0: ask equal() as well.
int compare_order(const Expr& a, const Expr& b);

}  // namespace tunesmith::affine
