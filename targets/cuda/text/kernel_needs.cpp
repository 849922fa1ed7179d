#include "text/kernel_needs.h"

#include "text/written_steps.h"
#include "tunesmith/grid/tile_order.h"
#include "tunesmith/ir/lowered_stmt.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith::cuda {
namespace {

/// Of the larger of sine and cosine of f64, which share this memory.
constexpr size_t kStackOfAngles = 40;

bool has_half(const Stmt& stmt) {
  const auto is_half = [](DType type) { return type.is_float() && type.bits == 16; };
  bool found = false;
  walk_accesses(
      stmt, [&](const Stmt&, const AccessSite& access) { found = found || is_half(access.buffer->dtype); });
  walk_exprs(stmt, [&](const Expr& expr) { found = found || is_half(expr.dtype().scalar()); });
  return found;
}

bool is_of_header(const Expr& expr) {
  const CallNode* call = expr.as<CallNode>();
  return call != nullptr && call->op == MathOp::RoundTf32;
}

bool is_of_angle(const Expr& expr) {
  const CallNode* call = expr.as<CallNode>();
  return call != nullptr && (call->op == MathOp::Sin || call->op == MathOp::Cos);
}

}  // namespace

bool needs_header(const Stmt& launch) {
  const auto uses = [](const Loop& loop) { return is_call(loop) || tile_order_of(loop).has_value(); };
  return has_half(launch) || any_of_exprs(launch, is_of_header) ||
         find_first<Loop>(launch, uses) != nullptr || find_first<AsyncWait>(launch) != nullptr ||
         find_first<AsyncGroup>(launch) != nullptr;
}

size_t stack_bytes(const Stmt& launch) { return any_of_exprs(launch, is_of_angle) ? kStackOfAngles : 0; }

}  // namespace tunesmith::cuda
