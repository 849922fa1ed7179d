// Does an expression depend on what buffers hold, and not on variables alone?
#pragma once

#include "tunesmith/ir/visit.h"

namespace tunesmith {

inline bool reads_memory(const Expr& expr) {
  return any_of_expr(expr, [](const Expr& part) { return part.is(ExprKind::Load); });
}

}  // namespace tunesmith
