// Walks statements with the bindings of nested blocks.
#pragma once

#include "tunesmith/ir/visit.h"

namespace tunesmith {

/// walk() that collects in `iters` the bindings of the visited blocks' iteration variables, in terms of the
/// variables around `stmt`. The caller initialises `iters` with the bindings of the enclosing blocks.
template <typename Visit>
void walk_bound(const Stmt& stmt, Substitution& iters, const Visit& visit) {
  visit(stmt);
  if (const Block* block = stmt.as<Block>()) {
    for (size_t i = 0; i < block->iters.size(); ++i)
      iters.set(block->iters[i].var, substitute(block->bindings[i], iters));
  }
  visit_children(stmt, [&](const Stmt& child) { walk_bound(child, iters, visit); });
}

}  // namespace tunesmith
