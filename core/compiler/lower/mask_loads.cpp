#include "lower/masks.h"
#include "tunesmith/affine/simplify.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/lower/passes.h"

namespace tunesmith {
namespace {

/// The ranges of the loops around a statement, and the statement itself if it is a store, else null.
struct Place {
  Analyzer analyzer;
  const Store* store;
};

/// Is it an index of the stored element, along an axis no longer than `extent`? Then it is inside, because
/// the conditions around the store guarantee it.
bool is_stored_at(const Expr& index, int64_t extent, const Expr& varying, const Store* store) {
  if (store == nullptr) return false;
  for (size_t d = 0; d < store->indices.size(); ++d) {
    if (store->buffer->shape[d] > extent || !equal(store->indices[d], index)) continue;
    const std::vector<Expr>& known = store->buffer->extents;
    if (!varying || (!known.empty() && known[d] && equal(known[d], varying))) return true;
  }
  return false;
}

bool inside_buffer(const LoadNode& access, const Place& place) {
  for (size_t d = 0; d < access.rank; ++d) {
    const Interval range = place.analyzer.bounds(access.indices()[d]);
    const int64_t extent = access.buffer->shape[d];
    const Expr varying = access.buffer->extents.empty() ? Expr() : access.buffer->extents[d];
    const bool within = range.min >= 0 && range.max < extent &&
                        (!varying || place.analyzer.can_prove(lt(access.indices()[d], varying)));
    if (!within && !is_stored_at(access.indices()[d], extent, varying, place.store)) return false;
  }
  return true;
}

/// Nested padding with the same value is one select: select(a, select(b, x, y), y) = select(a && b, x, y).
Expr joined_select(const Expr& guard, const Expr& chosen, const Expr& other) {
  if (!chosen.is(ExprKind::Select) || !equal(chosen.arg(2), other)) return select(guard, chosen, other);
  return select(logical_and(guard, chosen.arg(0)), chosen.arg(1), other);
}

/// `expr` with loads masked by `condition` (null: always true).
Expr masked(const Expr& expr, const Expr& condition, const Place& place) {
  if (expr.is(ExprKind::Select)) {
    const Expr guard = masked(expr.arg(0), condition, place);
    // The condition becomes a mask, so its own loads need masks, too.
    return joined_select(guard, masked(expr.arg(1), conjunction(condition, guard), place),
                         masked(expr.arg(2), conjunction(condition, logical_not(guard)), place));
  }
  if (expr.args().empty()) return expr;
  std::vector<Expr> args;
  bool changed = false;
  for (const Expr& arg : expr.args()) {
    args.push_back(masked(arg, condition, place));
    changed = changed || !args.back().same_as(arg);
  }
  const Expr rebuilt = changed ? with_args(expr, std::move(args)) : expr;
  const LoadNode* access = rebuilt.as<LoadNode>();
  if (access == nullptr || !condition || inside_buffer(*access, place)) return rebuilt;
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
    const Place place{Analyzer::at(stmt), stmt.as<Store>()};
    visit_exprs(stmt, [&](Expr& expr) { expr = masked(expr, {}, place); });
  });
}

}  // namespace tunesmith
