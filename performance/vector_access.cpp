#include "tunesmith/performance/vector_access.h"

#include <algorithm>
#include <bit>

#include "tunesmith/affine/linear_form.h"

namespace tunesmith {
namespace {

bool all_divide(const LinearForm& form, int64_t by) {
  return std::ranges::all_of(form.terms,
                             [&](const LinearForm::Term& term) { return term.coefficient % by == 0; });
}

/// A comparison of two indices that holds in all of `lanes` lanes if it holds in one.
bool same_order(const Expr& order, int lanes, const Analyzer& ranges) {
  const std::optional<LinearForm> first = slack_of(in_lane(order, 0), ranges);
  const std::optional<LinearForm> second = slack_of(in_lane(order, 1), ranges);
  if (!first || !second || !all_divide(*first, lanes)) return false;
  const LinearForm step = ranges.linear(second->to_expr() - first->to_expr());
  // Lanes are consecutive and do not cross a multiple of their number, where the slack changes its sign.
  const int64_t rest = (first->constant % lanes + lanes) % lanes;
  if (!step.terms.empty()) return false;
  return step.constant == 0 || (step.constant == 1 && rest == 0) ||
         (step.constant == -1 && rest == lanes - 1);
}

}  // namespace

Expr in_lane(const Expr& expr, int lane) {
  if (expr.dtype().lanes == 1) return expr;
  if (expr.is(ExprKind::Ramp)) return expr.arg(0) + expr.arg(1) * lane;
  if (expr.is(ExprKind::Broadcast)) return expr.arg(0);
  std::vector<Expr> args;
  for (const Expr& arg : expr.args()) args.push_back(in_lane(arg, lane));
  return with_args(expr, std::move(args));
}

Expr same_in_all_lanes(const Expr& condition, const Analyzer& ranges) {
  const int lanes = condition.dtype().lanes;
  if (lanes == 1 || condition.is(ExprKind::Broadcast)) return in_lane(condition, 0);
  if (condition.is(ExprKind::And)) {
    const Expr a = same_in_all_lanes(condition.arg(0), ranges);
    const Expr b = same_in_all_lanes(condition.arg(1), ranges);
    return a && b ? logical_and(a, b) : Expr();
  }
  const bool orders = condition.is(ExprKind::Lt) || condition.is(ExprKind::Le);
  if (!orders || !same_order(condition, lanes, ranges)) return {};
  return in_lane(condition, 0);
}

bool is_one_access(const Stmt& stmt, const AccessSite& access, const ExecutionModel& execution,
                   int64_t max_bytes) {
  const Expr& index = access.indices[0];
  const int lanes = index.dtype().lanes;
  const int64_t bytes = int64_t{lanes} * access.buffer->dtype.bytes();
  if (lanes == 1 || bytes > max_bytes || !std::has_single_bit(static_cast<uint64_t>(bytes))) return false;
  if (!index.is(ExprKind::Ramp) || !is_const_int(index.arg(1), 1)) return false;
  const MemoryScope* scope = execution.find_scope(access.buffer->scope);
  if (scope == nullptr || execution.depth_of(*scope) > execution.first_synchronising()) return false;
  if (scope->alignment % bytes != 0) return false;
  const Analyzer ranges = Analyzer::at(stmt);
  const LinearForm begin = ranges.linear(index.arg(0));
  if (!all_divide(begin, lanes) || begin.constant % lanes != 0) return false;
  const auto* store = stmt.as<Store>();
  const Expr mask = access.load != nullptr ? access.load->mask() : store != nullptr ? store->mask : Expr();
  return !mask || same_in_all_lanes(mask, ranges);
}

}  // namespace tunesmith
