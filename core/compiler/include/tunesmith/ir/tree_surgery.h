// Finding places in the tree, and taking statements out of it and putting them elsewhere.
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

/// Takes `stmt` out, with the loops around it that would be left empty. A Seq that is left with one statement
/// gives its place to it (the root and a block's body may stay a Seq).
StmtPtr take_out(Stmt& stmt);

/// Puts the branch's then-case where the branch stands, which is gone on return.
void unwrap(If& branch);

/// Puts `stmt` directly before or after `anchor`, in a new Seq where there is none.
void insert_before(Stmt& anchor, StmtPtr stmt);
void insert_after(Stmt& anchor, StmtPtr stmt);

/// The innermost statement that has both below it or is one of them.
const Stmt* common_ancestor(const Stmt& a, const Stmt& b);
/// True when `a` stands before `b` in the text and neither is in the other.
bool precedes(const Stmt& a, const Stmt& b);
/// The statement directly in `ancestor`'s body (in its Seq, when that is one) that is `stmt` or has it below.
Stmt& statement_towards(Stmt& ancestor, Stmt& stmt);
/// The statement of the scope (the root's Seq or the body of the enclosing block) that has `stmt` below it or
/// is it.
Stmt& outermost_in_scope(Stmt& stmt);

}  // namespace tunesmith
#pragma GCC visibility pop
