#include "lower/masks.h"
#include "lower/passes.h"
#include "tunesmith/affine/simplify.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith {
namespace {

bool inside_buffer(const LoadNode& access, const Analyzer& analyzer) {
  for (size_t d = 0; d < access.rank; ++d) {
    const Interval range = analyzer.bounds(access.indices()[d]);
    if (range.min < 0 || range.max >= access.buffer->shape[d]) return false;
  }
  return true;
}

/// What pads what pads with the same is one select: select(a, select(b, x, y), y) = select(a && b, x, y).
Expr joined_select(const Expr& guard, const Expr& chosen, const Expr& other) {
  if (!chosen.is(ExprKind::Select) || !equal(chosen.arg(2), other)) return select(guard, chosen, other);
  return select(logical_and(guard, chosen.arg(0)), chosen.arg(1), other);
}

/// `expr` where only `condition` (null: always) makes its loads happen.
Expr masked(const Expr& expr, const Expr& condition, const Analyzer& analyzer) {
  if (expr.is(ExprKind::Select)) {
    const Expr guard = masked(expr.arg(0), condition, analyzer);
    // As a mask the condition is a value like any other, whose own loads need their masks.
    return joined_select(guard, masked(expr.arg(1), conjunction(condition, guard), analyzer),
                         masked(expr.arg(2), conjunction(condition, logical_not(guard)), analyzer));
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
  return load(access->buffer, {access->indices().begin(), access->indices().end()},
              conjunction(access->mask(), condition));
}

bool has_select(const Stmt& stmt) {
  bool found = false;
  visit_exprs(stmt, [&](const Expr& expr) {
    found = found || any_of_expr(expr, [](const Expr& part) { return part.is(ExprKind::Select); });
  });
  return found;
}

}  // namespace

void mask_loads(Program& program) {
  walk(program.root(), [](Stmt& stmt) {
    if (!has_select(stmt)) return;
    const Analyzer analyzer = Analyzer::at(stmt);
    visit_exprs(stmt, [&](Expr& expr) { expr = masked(expr, {}, analyzer); });
  });
}

}  // namespace tunesmith
