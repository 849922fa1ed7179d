// Tests whether an expression depends on the contents of buffers.
#pragma once

#include "tunesmith/ir/visit.h"

namespace tunesmith {

inline bool reads_memory(const Expr& expr) {
  return any_of_expr(expr, [](const Expr& part) { return part.is(ExprKind::Load); });
}

}  // namespace tunesmith
