#include "text/written_steps.h"

#include <algorithm>

#include "tunesmith/ir/annotation_keys.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith::cuda {

bool is_call(const Loop& loop) { return loop.annotations.contains(kTensorIntrinsic); }

bool has_barrier(const Stmt& stmt) {
  return any_of_stmt(
      stmt, [](const Stmt& at) { return at.kind == StmtKind::Barrier || at.kind == StmtKind::Handover; });
}

int64_t steps_of(const Stmt& stmt) {
  if (stmt.kind == StmtKind::Store) return 1;
  if (stmt.kind == StmtKind::Barrier || stmt.kind == StmtKind::AsyncWait || stmt.kind == StmtKind::Handover)
    return kMaxSteps;
  const Loop* loop = stmt.as<Loop>();
  if (loop != nullptr && is_call(*loop)) return 1;
  int64_t steps = 0;
  visit_children(stmt, [&](const Stmt& child) { steps += steps_of(child); });
  steps = std::clamp<int64_t>(steps, 1, kMaxSteps);
  int64_t extent = 1;
  if (loop == nullptr || loop->loop_kind == LoopKind::Bound || !as_const_int(loop->extent, &extent))
    return steps;
  if (loop->loop_kind == LoopKind::Serial) extent = std::min(extent, kMaxSteps / steps);
  return std::min(steps * extent, kMaxSteps);
}

}  // namespace tunesmith::cuda
