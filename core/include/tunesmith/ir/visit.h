// Walks over statements and expressions as templates: what for_each and transform do, without an indirect
// call for each node. For passes and modules that run once per candidate.
#pragma once

#include <utility>

#include "tunesmith/ir/stmt.h"

namespace tunesmith {

/// Calls `visit(Stmt&)` for the direct children, in order (a block's init before its body).
template <typename Visit>
void visit_children(const Stmt& stmt, Visit&& visit) {
  const auto one = [&](Stmt* child) {
    if (child) visit(*child);
  };
  switch (stmt.kind) {
    case StmtKind::Seq:
      for (const StmtPtr& child : static_cast<const Seq&>(stmt).children()) visit(*child);
      return;
    case StmtKind::Loop:
      one(static_cast<const Loop&>(stmt).body());
      return;
    case StmtKind::Block:
      one(static_cast<const Block&>(stmt).init());
      one(static_cast<const Block&>(stmt).body());
      return;
    case StmtKind::If:
      one(static_cast<const If&>(stmt).then_case());
      one(static_cast<const If&>(stmt).else_case());
      return;
    case StmtKind::Allocate:
      one(static_cast<const Allocate&>(stmt).body());
      return;
    case StmtKind::Store:
      return;
  }
}

/// Calls `visit(Stmt&)` for the statement and all under it, parents first.
template <typename Visit>
void walk(Stmt& stmt, Visit&& visit) {
  visit(stmt);
  visit_children(stmt, [&](Stmt& child) { walk(child, visit); });
}

template <typename Visit>
void walk(const Stmt& stmt, Visit&& visit) {
  visit(stmt);
  visit_children(stmt, [&](const Stmt& child) { walk(child, visit); });
}

/// Calls `visit(Expr&)` (const where the statement is) for every expression directly in `stmt` that is not
/// null.
template <typename S, typename Visit>
void visit_exprs(S& stmt, Visit&& visit) {
  const auto one = [&](auto& expr) {
    if (expr) visit(expr);
  };
  switch (stmt.kind) {
    case StmtKind::Loop: {
      auto* loop = stmt.template as<Loop>();
      one(loop->min);
      one(loop->extent);
      return;
    }
    case StmtKind::Block: {
      auto* block = stmt.template as<Block>();
      for (auto& binding : block->bindings) one(binding);
      one(block->predicate);
      return;
    }
    case StmtKind::Store: {
      auto* store = stmt.template as<Store>();
      for (auto& index : store->indices) one(index);
      one(store->value);
      one(store->mask);
      return;
    }
    case StmtKind::If:
      one(stmt.template as<If>()->condition);
      return;
    case StmtKind::Seq:
    case StmtKind::Allocate:
      return;
  }
}

/// Calls `visit(const Expr&)` for `expr` and everything under it, parents first.
template <typename Visit>
void walk_expr(const Expr& expr, Visit&& visit) {
  visit(expr);
  for (const Expr& arg : expr.args()) walk_expr(arg, visit);
}

/// True when `test(const Expr&)` is for `expr` or anything under it.
template <typename Test>
bool any_of_expr(const Expr& expr, Test&& test) {
  if (test(expr)) return true;
  for (const Expr& arg : expr.args()) {
    if (any_of_expr(arg, test)) return true;
  }
  return false;
}

/// Rewrites children first; `rewrite(const Expr&)` gets a node with new children and answers its replacement
/// (or itself). Shares what does not change. Where new children make a node fold to one of them (x * 1), that
/// child is the result: it has been rewritten, and is not a second time.
template <typename Rewrite>
Expr rewrite_expr(const Expr& expr, Rewrite&& rewrite) {
  const std::span<const Expr> args = expr.args();
  for (size_t i = 0; i < args.size(); ++i) {
    Expr changed = rewrite_expr(args[i], rewrite);
    if (changed.same_as(args[i])) continue;
    std::vector<Expr> rewritten(args.begin(), args.end());
    rewritten[i] = std::move(changed);
    for (++i; i < args.size(); ++i) rewritten[i] = rewrite_expr(args[i], rewrite);
    // Nodes that fold have three operands at most.
    const ExprNode* operands[3] = {nullptr, nullptr, nullptr};
    for (size_t k = 0; k < rewritten.size() && k < 3; ++k) operands[k] = rewritten[k].get();
    Expr rebuilt = with_args(expr, std::move(rewritten));
    const bool folded = rebuilt.kind() != expr.kind() || rebuilt.get() == operands[0] ||
                        rebuilt.get() == operands[1] || rebuilt.get() == operands[2];
    return folded ? rebuilt : rewrite(rebuilt);
  }
  return rewrite(expr);
}

/// rewrite_expr on every expression in `stmt` and under it.
template <typename Rewrite>
void rewrite_exprs(Stmt& stmt, Rewrite&& rewrite) {
  walk(stmt, [&](Stmt& at) {
    visit_exprs(at, [&](Expr& expr) {
      Expr changed = rewrite_expr(expr, rewrite);
      if (!changed.same_as(expr)) expr = std::move(changed);
    });
  });
}

}  // namespace tunesmith
