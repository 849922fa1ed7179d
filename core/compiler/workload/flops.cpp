#include "tunesmith/workload/flops.h"

#include <algorithm>

#include "tunesmith/ir/visit.h"
#include "tunesmith/workload/workload.h"

namespace tunesmith {

namespace {

/// Integer arithmetic over loop variables computes addresses, and does not count.
bool is_data(const Expr& expr) {
  if (expr.is(ExprKind::Load) || expr.is(ExprKind::FloatImm) || expr.dtype().is_float()) return true;
  const auto args = expr.args();
  return std::any_of(args.begin(), args.end(), is_data);
}

double operations(const Expr& expr) {
  if (expr.is(ExprKind::Load) || !is_data(expr)) return 0.0;
  double count = 0.0;
  for (const Expr& arg : expr.args()) count += operations(arg);
  switch (expr.kind()) {
    case ExprKind::Add:
    case ExprKind::Sub:
    case ExprKind::Mul:
    case ExprKind::Div:
    case ExprKind::FloorDiv:
    case ExprKind::FloorMod:
    case ExprKind::Min:
    case ExprKind::Max:
    case ExprKind::Eq:
    case ExprKind::Ne:
    case ExprKind::Lt:
    case ExprKind::Le:
    case ExprKind::Call:
      return count + 1.0;
    default:
      return count;
  }
}

}  // namespace

double count_flops(const Stmt& stmt) {
  if (const auto* store = stmt.as<Store>()) return operations(store->value);
  double count = 0.0;
  if (const auto* block = stmt.as<Block>()) {
    count = block->body() ? count_flops(*block->body()) : 0.0;
  } else {
    visit_children(stmt, [&count](const Stmt& child) { count += count_flops(child); });
  }
  if (const auto* loop = stmt.as<Loop>()) count *= static_cast<double>(loop->const_extent());
  return count;
}

double count_flops(const Program& program) { return count_flops(program.root()); }

}  // namespace tunesmith
