// Where iterations of bound loops wait for one another.
#pragma once

#include "tunesmith/ir/visit.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Do they meet at the statement, or inside of it: at a Barrier, or in a Handover?
inline bool has_barrier(const Stmt& stmt) {
  return any_of_stmt(
      stmt, [](const Stmt& at) { return at.kind == StmtKind::Barrier || at.kind == StmtKind::Handover; });
}

}  // namespace tunesmith
#pragma GCC visibility pop
