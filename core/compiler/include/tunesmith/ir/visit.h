// Traversal and rewriting of programs, as templates: there is no indirect call per node, so code
// that runs once per candidate (a pass, a module, a cost model) may use them freely.
//
//   to visit                                  in one statement        in a statement and all below
//   statements                                visit_children          walk, any_of_stmt, find_first, collect
//   expressions                               visit_exprs             walk_exprs, any_of_exprs
//   loads and stores                          visit_accesses          walk_accesses
//   an expression and its operands                                    walk_expr, any_of_expr
//
//   to change expressions                     visit_exprs             rewrite_exprs, rewrite_expr
//
// Walks go from parents to children, in text order. The callback may change expressions, but not the tree
// below the visited statement: collect() the statements first, then change the tree. For example, the bytes
// of all loads and stores in a program, each counted once:
//
//   walk_accesses(program.root(), [&](const Stmt& stmt, const AccessSite& access) {
//     bytes += access.buffer->dtype.bytes();
//   });
#pragma once

#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "tunesmith/ir/lowered_stmt.h"

#pragma GCC visibility push(default)
namespace tunesmith {

// ---- Statements ----

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
    case StmtKind::AsyncGroup:
      one(static_cast<const AsyncGroup&>(stmt).body());
      return;
    case StmtKind::Handover:
      one(static_cast<const Handover&>(stmt).produce());
      one(static_cast<const Handover&>(stmt).consume());
      return;
    case StmtKind::Store:
    case StmtKind::Barrier:
    case StmtKind::AsyncWait:
      return;
  }
}

/// Calls `visit(Stmt&)` for the statement and all below it, parents first.
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

/// Is `test(const Stmt&)` true for `stmt` or a statement below it? Stops at the first.
template <typename Test>
bool any_of_stmt(const Stmt& stmt, Test&& test) {
  if (test(stmt)) return true;
  bool found = false;
  visit_children(stmt, [&](const Stmt& child) { found = found || any_of_stmt(child, test); });
  return found;
}

/// The first statement of type `T` (Loop, Block, Store, If, Allocate) at or
/// under `root` for which `test(T&)` is true, or null; const if `root` is.
template <typename T, typename Root, typename Test>
auto find_first(Root& root, Test&& test) {
  using Found = std::conditional_t<std::is_const_v<Root>, const T, T>;
  using Node = std::conditional_t<std::is_const_v<Root>, const Stmt, Stmt>;
  Found* found = root.template as<T>();
  if (found != nullptr && test(*found)) return found;
  found = nullptr;
  visit_children(root, [&](Node& child) {
    if (found == nullptr) found = find_first<T>(child, test);
  });
  return found;
}

/// The first statement of type `T`.
template <typename T, typename Root>
auto find_first(Root& root) {
  return find_first<T>(root, [](const T&) { return true; });
}

/// All statements of type `T` at or under `root` for which `test(T&)` is true, in text order. The caller may
/// change the tree afterwards.
template <typename T, typename Root, typename Test>
auto collect(Root& root, Test&& test) {
  std::vector<std::conditional_t<std::is_const_v<Root>, const T, T>*> found;
  walk(root, [&](auto& stmt) {
    if (auto* one = stmt.template as<T>(); one != nullptr && test(*one)) found.push_back(one);
  });
  return found;
}

template <typename T, typename Root>
auto collect(Root& root) {
  return collect<T>(root, [](const T&) { return true; });
}

// ---- Expressions ----

/// Calls `visit(const Expr&)` for `expr` and all its subexpressions, parents first.
template <typename Visit>
void walk_expr(const Expr& expr, Visit&& visit) {
  visit(expr);
  for (const Expr& arg : expr.args()) walk_expr(arg, visit);
}

/// Is `test(const Expr&)` true for `expr` or a subexpression? Stops at the first.
template <typename Test>
bool any_of_expr(const Expr& expr, Test&& test) {
  if (test(expr)) return true;
  for (const Expr& arg : expr.args()) {
    if (any_of_expr(arg, test)) return true;
  }
  return false;
}

/// Calls `visit(Expr&)` (const if `stmt` is) for every expression directly in `stmt` that is not null:
/// conditions, bounds, bindings, indices, values, masks. The callback may assign to them.
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
    case StmtKind::Barrier:
    case StmtKind::AsyncGroup:
    case StmtKind::AsyncWait:
    case StmtKind::Handover:
      return;
  }
}

/// Calls `visit(const Expr&)` for every expression in `stmt` and below it, and all subexpressions.
template <typename Visit>
void walk_exprs(const Stmt& stmt, Visit&& visit) {
  walk(stmt, [&](const Stmt& at) { visit_exprs(at, [&](const Expr& expr) { walk_expr(expr, visit); }); });
}

/// Is `test(const Expr&)` true for one of the expressions that walk_exprs() visits?
template <typename Test>
bool any_of_exprs(const Stmt& stmt, Test&& test) {
  return any_of_stmt(stmt, [&](const Stmt& at) {
    bool found = false;
    visit_exprs(at, [&](const Expr& expr) { found = found || any_of_expr(expr, test); });
    return found;
  });
}

// ---- Loads and stores ----

/// A load, or the target of a store.
struct AccessSite {
  const Buffer& buffer;
  std::span<const Expr> indices;
  const LoadNode* load = nullptr;  // null for a store
};

/// Calls `visit(const AccessSite&)` for the target of a store, then for the loads in the expressions.
template <typename Visit>
void visit_accesses(const Stmt& stmt, Visit&& visit) {
  if (const Store* store = stmt.as<Store>()) visit(AccessSite{store->buffer, store->indices});
  visit_exprs(stmt, [&](const Expr& expr) {
    walk_expr(expr, [&](const Expr& part) {
      if (const LoadNode* load = part.as<LoadNode>()) visit(AccessSite{load->buffer, load->indices(), load});
    });
  });
}

/// Calls `visit(Stmt&, const AccessSite&)` for the accesses of `root` and of all statements below it.
template <typename Root, typename Visit>
void walk_accesses(Root& root, Visit&& visit) {
  walk(root,
       [&](auto& stmt) { visit_accesses(stmt, [&](const AccessSite& access) { visit(stmt, access); }); });
}

// ---- Rewriting ----

/// Rewrites bottom-up: `rewrite(const Expr&)` receives a node with its new children and returns its
/// replacement, or the node. Unchanged parts are shared. If a node folds to one of its new children (x * 1),
/// that child is the result and is not rewritten again.
template <typename Rewrite>
Expr rewrite_expr(const Expr& expr, Rewrite&& rewrite) {
  const std::span<const Expr> args = expr.args();
  for (size_t i = 0; i < args.size(); ++i) {
    Expr changed = rewrite_expr(args[i], rewrite);
    if (changed.same_as(args[i])) continue;
    std::vector<Expr> rewritten(args.begin(), args.end());
    rewritten[i] = std::move(changed);
    for (++i; i < args.size(); ++i) rewritten[i] = rewrite_expr(args[i], rewrite);
    // Nodes that fold have at most three operands.
    const ExprNode* operands[3] = {nullptr, nullptr, nullptr};
    for (size_t k = 0; k < rewritten.size() && k < 3; ++k) operands[k] = rewritten[k].get();
    Expr rebuilt = with_args(expr, std::move(rewritten));
    const bool folded = rebuilt.kind() != expr.kind() || rebuilt.get() == operands[0] ||
                        rebuilt.get() == operands[1] || rebuilt.get() == operands[2];
    return folded ? rebuilt : rewrite(rebuilt);
  }
  return rewrite(expr);
}

/// Applies rewrite_expr() to every expression in `stmt` and below it.
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
#pragma GCC visibility pop
