// Masks: conditions of which null stands for true.
#pragma once

#include "tunesmith/ir/expr.h"

namespace tunesmith {

/// Both.
inline Expr conjunction(const Expr& a, const Expr& b) { return !a ? b : !b ? a : logical_and(a, b); }

}  // namespace tunesmith
