#include "text/wrapped_counters.h"

#include <algorithm>

#include "tunesmith/ir/visit.h"

namespace tunesmith::cuda {
namespace {

/// The constant of  variable + constant;  nothing for other sums.
std::optional<int64_t> offset_from(const Expr& index, const Var& var) {
  int64_t constant = 0;
  if (index.same_as(var)) return 0;
  if (index.is(ExprKind::Add) && index.arg(0).same_as(var) && as_const_int(index.arg(1), &constant))
    return constant;
  if (index.is(ExprKind::Sub) && index.arg(0).same_as(var) && as_const_int(index.arg(1), &constant))
    return -constant;
  return std::nullopt;
}

}  // namespace

std::vector<WrappedCounter> wrapped_counters(const Loop& loop) {
  std::vector<WrappedCounter> counters;
  int64_t begin = 0;
  if (!as_const_int(loop.min, &begin)) return counters;
  walk_exprs(*loop.body(), [&](const Expr& expr) {
    int64_t period = 0;
    if (!expr.is(ExprKind::FloorMod) || !expr.dtype().is_index() || !as_const_int(expr.arg(1), &period))
      return;
    const auto offset = offset_from(expr.arg(0), loop.var);
    if (!offset ||
        std::ranges::any_of(counters, [&](const WrappedCounter& known) { return equal(known.value, expr); }))
      return;
    counters.push_back({expr, period, ((begin + *offset) % period + period) % period, {}});
  });
  return counters;
}

}  // namespace tunesmith::cuda
