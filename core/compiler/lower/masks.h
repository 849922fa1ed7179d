// Masks: conditions, where null means true.
#pragma once

#include "tunesmith/ir/expr.h"

namespace tunesmith {

/// a && b.
inline Expr conjunction(const Expr& a, const Expr& b) { return !a ? b : !b ? a : logical_and(a, b); }

}  // namespace tunesmith
