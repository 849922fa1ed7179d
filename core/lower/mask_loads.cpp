#include "lower/passes.h"
#include "tunesmith/affine/simplify.h"

namespace tunesmith {
namespace {

bool inside_buffer(const LoadNode& access, const Analyzer& analyzer) {
  for (size_t d = 0; d < access.rank; ++d) {
    const Interval range = analyzer.bounds(access.indices()[d]);
    if (range.min < 0 || range.max >= access.buffer->shape[d]) return false;
  }
  return true;
}

/// `expr` where only `condition` (null: always) makes its loads happen.
Expr masked(const Expr& expr, const Expr& condition, const Analyzer& analyzer) {
  if (expr.is(ExprKind::Select)) {
    const Expr guard = masked(expr.arg(0), condition, analyzer);
    // As a mask the condition is a value like any other, whose own loads need their masks.
    const Expr yes = condition ? logical_and(condition, guard) : guard;
    const Expr no = condition ? logical_and(condition, logical_not(guard)) : logical_not(guard);
    return select(guard, masked(expr.arg(1), yes, analyzer), masked(expr.arg(2), no, analyzer));
  }
  if (expr.args().empty()) return expr;
  std::vector<Expr> args;
  bool changed = false;
  for (const Expr& arg : expr.args()) {
    args.push_back(masked(arg, condition, analyzer));
    changed = changed || !args.back().same_as(arg);
  }
  const Expr rebuilt = changed ? with_args(expr, std::move(args)) : expr;
  const LoadNode* access = rebuilt.as<LoadNode>();
  if (access == nullptr || !condition || inside_buffer(*access, analyzer)) return rebuilt;
  const Expr mask = access->mask() ? logical_and(access->mask(), condition) : condition;
  return load(access->buffer, {access->indices().begin(), access->indices().end()}, mask);
}

bool has_select(const Stmt& stmt) {
  bool found = false;
  for_each_expr(stmt, [&](const Expr& expr) {
    for_each(expr, [&](const Expr& part) { found = found || part.is(ExprKind::Select); });
  });
  return found;
}

}  // namespace

void mask_loads(Program& program) {
  for_each_stmt(program.root(), [](Stmt& stmt) {
    if (!has_select(stmt)) return;
    const Analyzer analyzer = Analyzer::at(stmt);
    transform_exprs(stmt, [&](const Expr& expr) { return masked(expr, {}, analyzer); }, false);
  });
}

}  // namespace tunesmith
