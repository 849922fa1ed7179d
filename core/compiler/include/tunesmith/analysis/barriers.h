// Where iterations of bound loops synchronise.
#pragma once

#include "tunesmith/ir/visit.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Does the statement contain a Barrier or a Handover?
inline bool has_barrier(const Stmt& stmt) {
  return any_of_stmt(
      stmt, [](const Stmt& at) { return at.kind == StmtKind::Barrier || at.kind == StmtKind::Handover; });
}

}  // namespace tunesmith
#pragma GCC visibility pop
