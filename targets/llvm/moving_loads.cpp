#include "moving_loads.h"

#include "tunesmith/ir/visit.h"

namespace tunesmith::llvm_target {

void MovingLoads::walk(const Stmt& stmt) {
  if (done_) return;
  if (const Loop* loop = stmt.as<Loop>()) {
    const Linear min = emitter_.linear(loop->min);
    const Linear extent = emitter_.linear(loop->extent);
    const bool unrolled = loop->loop_kind == LoopKind::Unrolled && min.is_constant() && extent.is_constant();
    for (int64_t i = 0; i < (unrolled ? extent.constant : 1); ++i) {
      emitter_.bind_var(loop->var.get(), add_scaled(min, Linear(i), 1));
      walk(*loop->body());
    }
    return;
  }
  if (const Store* store = stmt.as<Store>()) {
    walk_expr(store->value, [&](const Expr& part) {
      if (const LoadNode* load = part.as<LoadNode>()) add(*load);
    });
  }
  visit_children(stmt, [&](const Stmt& child) { walk(child); });
}

void MovingLoads::add(const LoadNode& load) {
  const auto found = emitter_.buffers_.find(load.buffer.get());
  const Expr& index = load.indices()[0];
  // A buffer that is allocated in the body has no address yet.
  if (done_ || found == emitter_.buffers_.end() || found->second.in_registers || !uses_var(index, moving_))
    return;
  if (any_of_expr(index, [](const Expr& part) { return part.is(ExprKind::Load); })) return;
  if (const auto lanes = emitter_.lane_index(index)) done_ = !visit_(found->second, load.dtype, *lanes);
}

std::optional<int64_t> whole_annotation(const Loop& loop, const char* key) {
  const auto annotation = loop.annotations.find(key);
  const int64_t* value =
      annotation == loop.annotations.end() ? nullptr : std::get_if<int64_t>(&annotation->second);
  return value == nullptr ? std::nullopt : std::optional(*value);
}

}  // namespace tunesmith::llvm_target
