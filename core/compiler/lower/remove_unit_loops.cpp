// Replaces a loop of one iteration by its body: programs that differ only in such loops become equal.
#include <unordered_set>

#include "tunesmith/ir/visit.h"
#include "tunesmith/lower/passes.h"

namespace tunesmith {
namespace {

using Vars = std::unordered_set<const VarNode*>;  // only looked up, never iterated

/// Skips annotated statements with their content: the target handles them (calls of intrinsics).
void collect_unit_loops(Stmt& stmt, const Vars& used, std::vector<Loop*>& loops) {
  if (Loop* loop = stmt.as<Loop>()) {
    if (!loop->annotations.empty()) return;
    if (is_const_int(loop->extent, 1) && loop->thread.empty() && !used.contains(loop->var.get()))
      loops.push_back(loop);
  }
  visit_children(stmt, [&](Stmt& child) { collect_unit_loops(child, used, loops); });
}

}  // namespace

void remove_unit_loops(Program& program) {
  // Simplified indices contain no variable of a loop of one iteration with a constant begin.
  Vars used;
  walk_exprs(program.root(), [&](const Expr& part) {
    if (const auto* var = part.as<VarNode>()) used.insert(var);
  });
  std::vector<Loop*> loops;
  collect_unit_loops(program.root(), used, loops);
  for (Loop* loop : loops) replace(*loop, loop->take_body());
}

}  // namespace tunesmith
