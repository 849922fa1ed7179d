#include "workload/prover.h"

#include <algorithm>
#include <cmath>

#include "tunesmith/ir/fold.h"
#include "tunesmith/ir/visit.h"
#include "workload/operand.h"

namespace tunesmith::workload {

namespace {
/// True for index expressions with constants small enough for the analyzer.
bool is_index(const Expr& expr) {
  return expr.dtype() == kIndex && !any_of_expr(expr, [](const Expr& part) {
           const auto* constant = part.as<IntImm>();
           return part.is(ExprKind::Load) || part.is(ExprKind::Cast) ||
                  (constant && std::fabs(static_cast<double>(constant->value)) > kMaxMagnitude);
         });
}
}  // namespace

void Prover::bind(const Var& var, int64_t extent) {
  analyzer_.bind(var, extent);
  if (extent > 1) shaping_.bind(var, extent);
}

void Prover::assume(const Expr& condition, bool holds) {
  const ExprKind kind = condition.kind();
  if (kind == ExprKind::Not) return assume(condition.arg(0), !holds);
  if (kind == (holds ? ExprKind::And : ExprKind::Or)) {
    assume(condition.arg(0), holds);
    return assume(condition.arg(1), holds);
  }
  if (kind != ExprKind::Lt && kind != ExprKind::Le && kind != ExprKind::Eq && kind != ExprKind::Ne) return;
  const Expr& a = condition.arg(0);
  const Expr& b = condition.arg(1);
  if (!is_index(a) || !is_index(b)) return;
  if (kind == ExprKind::Lt) return add_fact(holds ? b - a - 1 : a - b);
  if (kind == ExprKind::Le) return add_fact(holds ? b - a : a - b - 1);
  if (holds == (kind == ExprKind::Eq)) {
    add_fact(b - a);
    add_fact(a - b);
  } else {
    exclude_zero(a - b);
  }
}

void Prover::exclude_zero(const Expr& value) {
  const LinearForm form = analyzer_.linear(value);
  if (form.terms.size() != 1 || !form.terms[0].atom.is(ExprKind::Var)) return;
  const Var var = Var::from(form.terms[0].atom);
  const int64_t coefficient = form.terms[0].coefficient;
  std::optional<Interval> range = analyzer_.range_of(var);
  if (!range || form.constant % coefficient != 0) return;
  // Only a value at an end of the range can be excluded.
  const int64_t excluded = -form.constant / coefficient;
  if (excluded == range->min) ++range->min;
  if (excluded == range->max) --range->max;
  narrow(var, *range);
}

void Prover::narrow(const Var& var, Interval range) {
  if (range.min > range.max) {
    unreachable_ = true;
  } else {
    analyzer_.bind(var, range);
  }
}

void Prover::add_fact(const Expr& nonnegative_value) {
  const LinearForm form = analyzer_.linear(nonnegative_value);
  if (form.terms.size() == 1 && form.terms[0].atom.is(ExprKind::Var)) {
    // coefficient * var + constant >= 0 narrows the range of var.
    const Var var = Var::from(form.terms[0].atom);
    const int64_t coefficient = form.terms[0].coefficient;
    if (std::optional<Interval> range = analyzer_.range_of(var)) {
      if (coefficient > 0) range->min = std::max(range->min, -floor_divide(form.constant, coefficient));
      if (coefficient < 0) range->max = std::min(range->max, floor_divide(form.constant, -coefficient));
      narrow(var, *range);
    }
  }
  facts_.push_back(nonnegative_value);
}

bool Prover::nonnegative(const Expr& value) const {
  if (unreachable_ || analyzer_.bounds(value).min >= 0) return true;
  return std::any_of(facts_.begin(), facts_.end(), [&](const Expr& fact) {
    return analyzer_.bounds(analyzer_.simplify(value - fact)).min >= 0;
  });
}

}  // namespace tunesmith::workload
