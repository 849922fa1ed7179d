// Finds places in the tree, and moves statements.
#pragma once

#include "tunesmith/ir/program.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// The innermost loop above the statement, up to the root, for which `test(const Loop&)` is true, or null.
template <typename Test>
Loop* loop_above(const Stmt& stmt, Test&& test) {
  for (Stmt* at = stmt.parent; at != nullptr; at = at->parent) {
    if (Loop* loop = at->as<Loop>(); loop != nullptr && test(*loop)) return loop;
  }
  return nullptr;
}

inline bool is_vectorized(const Loop& loop) { return loop.loop_kind == LoopKind::Vectorized; }

/// Removes `stmt` with the enclosing loops that would become empty. A Seq that is
/// left with one statement is replaced by it (except the root and a block's body).
StmtPtr take_out(Stmt& stmt);

/// Replaces the branch by its then-case and destroys it.
void unwrap(If& branch);

/// Inserts `stmt` directly before or after `anchor`, in a new Seq if needed.
void insert_before(Stmt& anchor, StmtPtr stmt);
void insert_after(Stmt& anchor, StmtPtr stmt);

/// The innermost statement that contains both (or is one of them).
const Stmt* common_ancestor(const Stmt& a, const Stmt& b);
/// Is `a` before `b` in text order, without one containing the other?
bool precedes(const Stmt& a, const Stmt& b);
/// The child of `ancestor` (or of its Seq body) that contains or is `stmt`.
Stmt& statement_towards(Stmt& ancestor, Stmt& stmt);
/// The statement directly in the scope (the root's Seq or the
/// body of the enclosing block) that contains or is `stmt`.
Stmt& outermost_in_scope(Stmt& stmt);

}  // namespace tunesmith
#pragma GCC visibility pop
