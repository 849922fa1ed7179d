#include "candidates/data_dependence.h"

#include <algorithm>

#include "tunesmith/ir/visit.h"

namespace tunesmith::cuda {
namespace {

bool is_load(const Expr& expr) { return expr.is(ExprKind::Load); }

bool has_load(const Expr& expr) { return expr && any_of_expr(expr, is_load); }

/// A load whose index, or whose execution, depends on a load.
bool depends_on_load(const Expr& part) {
  const auto has = [](const Expr& arg) { return has_load(arg); };
  switch (part.kind()) {
    case ExprKind::Load:
      return std::ranges::any_of(part.args(), has);
    case ExprKind::Select:
      return has(part.arg(0)) && (has(part.arg(1)) || has(part.arg(2)));
    case ExprKind::And:
    case ExprKind::Or:
      return has(part.arg(0)) && has(part.arg(1));
    default:
      return false;
  }
}

}  // namespace

bool accesses_depend_on_data(const Program& program) {
  return any_of_stmt(program.root(), [](const Stmt& at) {
    if (const If* branch = at.as<If>(); branch != nullptr && has_load(branch->condition)) return true;
    if (const Loop* loop = at.as<Loop>(); loop != nullptr && (has_load(loop->min) || has_load(loop->extent)))
      return true;
    const Store* store = at.as<Store>();
    if (store != nullptr && (std::ranges::any_of(store->indices, has_load) || has_load(store->mask)))
      return true;
    bool found = false;
    visit_exprs(at, [&](const Expr& expr) { found = found || any_of_expr(expr, depends_on_load); });
    return found;
  });
}

}  // namespace tunesmith::cuda
