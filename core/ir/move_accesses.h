// Accesses of one buffer become accesses of another.
#pragma once

#include <utility>

#include "tunesmith/ir/visit.h"

namespace tunesmith {

/// Every load and store of `from` in `root` and under it becomes one of `to`, with the indices that
/// `place(const Stmt&, std::span<const Expr>)` makes of its own; the statement is the one that it stands in.
template <typename Place>
void move_accesses(Stmt& root, const Buffer& from, const Buffer& to, Place&& place) {
  walk(root, [&](Stmt& stmt) {
    visit_exprs(stmt, [&](Expr& expr) {
      Expr changed = rewrite_expr(expr, [&](const Expr& part) {
        const LoadNode* old = part.as<LoadNode>();
        return old != nullptr && old->buffer == from ? load(to, place(stmt, old->indices()), old->mask())
                                                     : part;
      });
      if (!changed.same_as(expr)) expr = std::move(changed);
    });
    Store* store = stmt.as<Store>();
    if (store == nullptr || store->buffer != from) return;
    store->indices = place(stmt, store->indices);
    store->buffer = to;
  });
}

}  // namespace tunesmith
