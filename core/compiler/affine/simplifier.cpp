#include "affine/simplifier.h"

#include <algorithm>

#include "affine/order.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith::affine {
namespace {

bool is_atom(const LinearSum& sum) {
  return sum.constant == 0 && sum.terms.size() == 1 && sum.terms[0].coefficient == 1;
}

/// A varying stride: each term of a sum times it stays separate, since it is a step through memory of its
/// own.
bool is_of_parameters(const LinearSum& sum) {
  return std::ranges::all_of(sum.terms, [](const auto& term) {
    return !any_of_expr(term.atom, [](const Expr& part) {
      const VarNode* var = part.as<VarNode>();
      return part.is(ExprKind::Load) || (var != nullptr && !var->is_parameter());
    });
  });
}

}  // namespace

Expr Simplifier::simplify(const Expr& expr) const {
  const ExprKind kind = expr.kind();
  if (kind == ExprKind::IntImm || kind == ExprKind::FloatImm) return expr;
  if (kind == ExprKind::Var) {
    const Interval* range = range_of(expr.get());
    return range && range->is_point() ? int_imm(range->min, expr.dtype()) : expr;
  }
  if (kind == ExprKind::Select) return simplify_select(expr);
  if (is_index(expr.dtype()) && kind >= ExprKind::Add && kind <= ExprKind::Max) {
    const LinearSum sum = linear(expr);
    return sum.overflow ? expr : sum.to_expr_like(expr);
  }
  if (expr.dtype() == kBool) {
    if (kind >= ExprKind::Eq && kind <= ExprKind::Le) return simplify_comparison(expr);
    if (kind == ExprKind::And || kind == ExprKind::Or) return simplify_junction(expr);
    if (kind == ExprKind::Not) return simplify_not(expr);
  }
  return simplify_args(expr);
}

Expr Simplifier::simplify_args(const Expr& expr) const {
  const auto args = expr.args();
  for (size_t i = 0; i < args.size(); ++i) {
    Expr first_changed = simplify(args[i]);
    if (first_changed.same_as(args[i])) continue;
    std::vector<Expr> changed(args.begin(), args.end());
    changed[i] = std::move(first_changed);
    for (size_t j = i + 1; j < args.size(); ++j) changed[j] = simplify(args[j]);
    return with_args(expr, std::move(changed));
  }
  return expr;
}

Expr Simplifier::simplify_select(const Expr& expr) const {
  const Expr condition = simplify(expr.arg(0));
  if (const auto* constant = condition.as<IntImm>()) return simplify(expr.arg(constant->value ? 1 : 2));
  const Expr a = simplify(expr.arg(1));
  const Expr b = simplify(expr.arg(2));
  if (equal(a, b)) return a;
  if (condition.same_as(expr.arg(0)) && a.same_as(expr.arg(1)) && b.same_as(expr.arg(2))) return expr;
  return select(condition, a, b);
}

LinearSum Simplifier::linear(const Expr& expr) const {
  LinearSum sum;
  accumulate(expr, 1, sum);
  if (sum.terms.size() > 1) merge_splits(sum);
  return sum;
}

void Simplifier::accumulate(const Expr& expr, int64_t factor, LinearSum& out) const {
  switch (expr.kind()) {
    case ExprKind::IntImm:
      out.add_constant(saturating_mul(expr.as<IntImm>()->value, factor));
      return;
    case ExprKind::Var: {
      const Interval* range = range_of(expr.get());
      if (range && range->is_point()) {
        out.add_constant(saturating_mul(range->min, factor));
      } else {
        out.add_term(factor, expr);
      }
      return;
    }
    case ExprKind::Add:
      accumulate(expr.arg(0), factor, out);
      accumulate(expr.arg(1), factor, out);
      return;
    case ExprKind::Sub:
      accumulate(expr.arg(0), factor, out);
      accumulate(expr.arg(1), -factor, out);
      return;
    case ExprKind::Mul:
      accumulate_product(expr, factor, out);
      return;
    case ExprKind::FloorDiv:
    case ExprKind::FloorMod:
      accumulate_quotient(expr, factor, out);
      return;
    case ExprKind::Min:
    case ExprKind::Max:
      accumulate_min_max(expr, factor, out);
      return;
    case ExprKind::Select: {
      const Expr chosen = simplify_select(expr);
      if (chosen.is(ExprKind::Select)) {
        out.add_term(factor, chosen);
      } else {
        accumulate(chosen, factor, out);
      }
      return;
    }
    default: {
      const Expr atom = simplify_args(expr);
      if (atom.is(ExprKind::IntImm)) {
        accumulate(atom, factor, out);
      } else {
        out.add_term(factor, atom);
      }
      return;
    }
  }
}

void Simplifier::accumulate_quotient(const Expr& expr, int64_t factor, LinearSum& out) const {
  const int64_t divisor = constant_divisor(expr);
  if (divisor == 0) {
    out.add_term(factor, simplify_args(expr));
    return;
  }
  LinearSum operand = linear(expr.arg(0));
  if (operand.overflow) {
    out.add_term(factor, expr);
  } else if (expr.is(ExprKind::FloorDiv)) {
    divide(std::move(operand), divisor, factor, expr, out);
  } else {
    modulo(std::move(operand), divisor, factor, expr, out);
  }
}

void Simplifier::accumulate_product(const Expr& expr, int64_t factor, LinearSum& out) const {
  int64_t constant = 0;
  for (const size_t side : {1, 0}) {
    if (!as_const_int(expr.arg(side), &constant)) continue;
    const int64_t product = saturating_mul(constant, factor);
    if (!representable(product)) out.overflow = true;
    if (product != 0 && !out.overflow) accumulate(expr.arg(1 - side), product, out);
    return;
  }
  LinearSum a = linear(expr.arg(0));
  LinearSum b = linear(expr.arg(1));
  if (a.overflow || b.overflow) {
    out.add_term(factor, expr);
    return;
  }
  if (a.terms.empty() || b.terms.empty()) {
    const LinearSum& sum = a.terms.empty() ? b : a;
    out.add_scaled(sum, saturating_mul(factor, a.terms.empty() ? a.constant : b.constant));
    return;
  }
  if ((is_of_parameters(a) || is_of_parameters(b)) && !(is_atom(a) && is_atom(b))) {
    multiply_out(a, b, factor, out);
    return;
  }
  Expr x = a.to_expr_like(expr.arg(0));
  Expr y = b.to_expr_like(expr.arg(1));
  if (compare_order(x, y) > 0) std::swap(x, y);
  const bool same = x.same_as(expr.arg(0)) && y.same_as(expr.arg(1));
  out.add_term(factor, same ? expr : x * y);
}

void Simplifier::multiply_out(const LinearSum& a, const LinearSum& b, int64_t factor, LinearSum& out) {
  LinearSum product;
  product.add_scaled(b, a.constant);
  for (const auto& [coefficient, atom] : a.terms) {
    product.add_term(saturating_mul(coefficient, b.constant), atom);
    for (const auto& [other_coefficient, other] : b.terms) {
      const bool ordered = compare_order(atom, other) <= 0;
      product.add_term(saturating_mul(coefficient, other_coefficient), ordered ? atom * other : other * atom);
    }
  }
  out.add_scaled(product, factor);
}

void Simplifier::accumulate_min_max(const Expr& expr, int64_t factor, LinearSum& out) const {
  const ExprKind kind = expr.kind();
  const LinearSum a = linear(expr.arg(0));
  const LinearSum b = linear(expr.arg(1));
  LinearSum difference = a;
  difference.add_scaled(b, -1);
  if (difference.overflow) {
    out.add_term(factor, expr);
    return;
  }
  const Interval range = bounds(difference);
  if (range.max <= 0 || range.min >= 0) {
    const bool first = (range.max <= 0) == (kind == ExprKind::Min);
    out.add_scaled(first ? a : b, factor);
    return;
  }
  Expr x = a.to_expr_like(expr.arg(0));
  Expr y = b.to_expr_like(expr.arg(1));
  if (x.is(ExprKind::IntImm) || (!y.is(ExprKind::IntImm) && compare_order(x, y) > 0)) std::swap(x, y);
  if (y.is(ExprKind::IntImm) && x.is(kind) && x.arg(1).is(ExprKind::IntImm)) {
    y = binary(kind, x.arg(1), y);
    x = Expr(x.arg(0));
  }
  const bool same = x.same_as(expr.arg(0)) && y.same_as(expr.arg(1));
  out.add_term(factor, same ? expr : binary(kind, x, y));
}

}  // namespace tunesmith::affine
