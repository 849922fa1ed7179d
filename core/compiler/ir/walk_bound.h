// Walks that see through the blocks inside a block.
#pragma once

#include "tunesmith/ir/visit.h"

namespace tunesmith {

/// walk(), with what the iteration variables of blocks met on the way are bound to in `iters`, as functions
/// of what stands around `stmt`; `iters` begins with those of the blocks around.
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
