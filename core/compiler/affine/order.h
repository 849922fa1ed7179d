// The fixed structural order of expressions.
#pragma once

#include "tunesmith/ir/expr.h"

namespace tunesmith::affine {

/// Returns a negative number, 0 or a positive one. Variables come first, by serial; then kind and operands
/// decide. Addresses do not count, so different buffers with one name compare as 0: check equal() as well.
int compare_order(const Expr& a, const Expr& b);

}  // namespace tunesmith::affine
