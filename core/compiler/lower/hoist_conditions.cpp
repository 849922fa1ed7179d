// Moves a condition out of loops in which it is invariant: a row of a tile is tested once, not for each of
// its vectors.
#include "ir/reads_memory.h"
#include "tunesmith/ir/tree_surgery.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/lower/passes.h"

namespace tunesmith {
namespace {

/// The outermost loop that `branch` may leave; null if there is none. All loops up to it contain only
/// `branch`.
Loop* outermost(If& branch) {
  Loop* found = nullptr;
  for (Stmt* at = &branch; at->parent != nullptr; at = at->parent) {
    if (Seq* seq = at->parent->as<Seq>()) {
      if (seq->children().size() > 1) break;
      continue;
    }
    Loop* loop = at->parent->as<Loop>();
    if (loop == nullptr || uses_var(branch.condition, loop->var)) break;
    if (loop->loop_kind != LoopKind::Serial && loop->loop_kind != LoopKind::Unrolled) break;
    found = loop;
  }
  return found;
}

}  // namespace

void hoist_conditions(Program& program) {
  const auto is_movable = [](const If& branch) {
    return branch.else_case() == nullptr && !reads_memory(branch.condition);
  };
  for (If* branch : collect<If>(program.root(), is_movable)) {
    Loop* loop = outermost(*branch);
    if (loop == nullptr) continue;
    const Expr condition = branch->condition;
    unwrap(*branch);
    auto around = std::make_unique<If>(condition, std::make_unique<Seq>());
    If& hoisted = *around;
    StmtPtr inside = replace(*loop, std::move(around));
    replace(*hoisted.then_case(), std::move(inside));
  }
}

}  // namespace tunesmith
