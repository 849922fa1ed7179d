// Redirects accesses of one buffer to another.
#pragma once

#include <utility>

#include "tunesmith/ir/visit.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Redirects every load and store of `from` directly in `stmt` to `to`, with the
/// indices that `place(const Stmt&, std::span<const Expr>)` computes from the old ones.
template <typename Place>
void move_own_accesses(Stmt& stmt, const Buffer& from, const Buffer& to, Place&& place) {
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
}

/// move_own_accesses() for `root` and all statements below it.
template <typename Place>
void move_accesses(Stmt& root, const Buffer& from, const Buffer& to, Place&& place) {
  walk(root, [&](Stmt& stmt) { move_own_accesses(stmt, from, to, place); });
}

/// A `place` that keeps the indices.
inline std::vector<Expr> same_place(const Stmt&, std::span<const Expr> indices) {
  return {indices.begin(), indices.end()};
}

}  // namespace tunesmith
#pragma GCC visibility pop
