// Decides comparisons, conjunctions and disjunctions by bounds, or brings them to a normal form.
#include <functional>
#include <numeric>

#include "affine/simplifier.h"
#include "tunesmith/support/error.h"

namespace tunesmith::affine {
namespace {

/// The terms with positive coefficients, and the negated terms with negative ones.
struct Sides {
  LinearSum left;
  LinearSum right;
};

Sides sides_of(const LinearSum& sum) {
  Sides sides;
  for (const auto& [coefficient, atom] : sum.terms) {
    LinearSum& side = coefficient > 0 ? sides.left : sides.right;
    side.terms.push_back({std::abs(coefficient), atom});
  }
  return sides;
}

/// Places the constant on the right if that is empty, else where it is positive.
void place_constant(Sides& sides, int64_t constant) {
  if (constant > 0 && !sides.right.terms.empty()) {
    sides.left.constant = constant;
  } else {
    sides.right.constant = -constant;
  }
}

Expr compare(ExprKind kind, const Sides& sides, const Expr& original) {
  const Expr a = sides.left.to_expr_like(original.arg(0));
  const Expr b = sides.right.to_expr_like(original.arg(1));
  if (original.is(kind) && a.same_as(original.arg(0)) && b.same_as(original.arg(1))) return original;
  return binary(kind, a, b);
}

void flatten(const Expr& expr, ExprKind kind, std::vector<Expr>& out) {
  if (!expr.is(kind)) {
    out.push_back(expr);
    return;
  }
  flatten(expr.arg(0), kind, out);
  flatten(expr.arg(1), kind, out);
}

bool is_index_order(const Expr& expr) {
  return (expr.is(ExprKind::Lt) || expr.is(ExprKind::Le)) && is_index(expr.arg(0).dtype());
}

}  // namespace

Expr Simplifier::simplify_comparison(const Expr& expr) const {
  if (!is_index(expr.arg(0).dtype())) return simplify_args(expr);
  return is_index_order(expr) ? simplify_order(expr) : simplify_equality(expr);
}

// g*x + rest < 0  is  x + rest // g < 0, and rest // g is often a constant. True if the sum changed.
bool Simplifier::divide_order(LinearSum& sum) const {
  boost::container::small_vector<int64_t, 6> scales;
  int64_t common = 0;
  for (const auto& term : sum.terms) {
    scales.push_back(std::abs(term.coefficient));
    common = std::gcd(common, term.coefficient);
  }
  scales.push_back(common);
  std::sort(scales.begin(), scales.end(), std::greater<>());
  for (const int64_t scale : scales) {
    LinearSum whole;
    LinearSum rest;
    if (scale <= 1 || !split_by(sum, scale, whole, rest) || whole.terms.empty()) continue;
    sum = std::move(whole);
    return true;
  }
  return false;
}

// x // d + c < 0  is  x + d*c < 0,  and  c - x // d < 0  is  d*c + d - x - 1 < 0. True if the sum changed.
bool Simplifier::undo_division(LinearSum& sum) const {
  if (sum.terms.size() != 1) return false;
  const auto [sign, atom] = sum.terms[0];
  const int64_t divisor = atom.is(ExprKind::FloorDiv) ? constant_divisor(atom) : 0;
  if (divisor == 0 || (sign != 1 && sign != -1)) return false;
  LinearSum undone;
  undone.add_scaled(linear(atom.arg(0)), sign);
  undone.add_constant(saturating_mul(sum.constant, divisor));
  if (sign < 0) undone.add_constant(divisor - 1);
  if (undone.overflow) return false;
  sum = std::move(undone);
  return true;
}

// Writes a < b and a <= b as  sum < 0.
Expr Simplifier::simplify_order(const Expr& expr) const {
  LinearSum sum = linear(expr.arg(0));
  sum.add_scaled(linear(expr.arg(1)), -1);
  if (expr.is(ExprKind::Le)) sum.add_constant(-1);
  if (sum.terms.size() > 1) merge_splits(sum);
  if (sum.overflow) return expr;
  const Interval range = bounds(sum);
  if (range.max < 0 || range.min >= 0) return bool_imm(range.max < 0);

  while (undo_division(sum) || divide_order(sum)) {
  }

  Sides sides = sides_of(sum);
  if (sides.left.terms.empty()) {
    sides.left.constant = sum.constant + 1;
    return compare(ExprKind::Le, sides, expr);
  }
  place_constant(sides, sum.constant);
  return compare(ExprKind::Lt, sides, expr);
}

Expr Simplifier::simplify_equality(const Expr& expr) const {
  const bool is_eq = expr.is(ExprKind::Eq);
  LinearSum sum = linear(expr.arg(0));
  sum.add_scaled(linear(expr.arg(1)), -1);
  if (sum.terms.size() > 1) merge_splits(sum);
  if (sum.overflow) return expr;
  const Interval range = bounds(sum);
  if (range.min > 0 || range.max < 0) return bool_imm(!is_eq);
  if (range.is_point()) return bool_imm(is_eq);

  int64_t common = 0;
  for (const auto& term : sum.terms) common = std::gcd(common, term.coefficient);
  check_invariant(common != 0, "a sum that is no constant has a term");
  if (sum.constant % common != 0) return bool_imm(!is_eq);
  if (sum.terms[0].coefficient < 0) common = -common;
  for (auto& term : sum.terms) term.coefficient /= common;
  Sides sides = sides_of(sum);
  place_constant(sides, sum.constant / common);
  return compare(expr.kind(), sides, expr);
}

Expr Simplifier::simplify_not(const Expr& expr) const {
  const Expr inner = simplify(expr.arg(0));
  const bool exact = inner.args().size() == 2 && !inner.arg(0).dtype().is_float();
  switch (inner.kind()) {
    case ExprKind::Lt:
      if (exact) return simplify(le(inner.arg(1), inner.arg(0)));
      break;
    case ExprKind::Le:
      if (exact) return simplify(lt(inner.arg(1), inner.arg(0)));
      break;
    case ExprKind::Eq:
      return ne(inner.arg(0), inner.arg(1));
    case ExprKind::Ne:
      return eq(inner.arg(0), inner.arg(1));
    default:
      break;
  }
  return inner.same_as(expr.arg(0)) ? expr : logical_not(inner);
}

Expr Simplifier::simplify_junction(const Expr& expr) const {
  const ExprKind kind = expr.kind();
  const bool is_and = kind == ExprKind::And;
  std::vector<Expr> written;
  flatten(expr, kind, written);
  std::vector<Expr> parts;
  for (const Expr& part : written) flatten(simplify(part), kind, parts);

  struct Part {
    Expr expr;
    LinearSum sum;  // of an index comparison, which holds where sum < 0
    bool is_order = false;
  };
  std::vector<Part> kept;
  for (const Expr& part : parts) {
    if (const auto* constant = part.as<IntImm>()) {
      if ((constant->value != 0) != is_and) return bool_imm(!is_and);
      continue;
    }
    Part next{part, {}, is_index_order(part)};
    if (next.is_order) {
      next.sum = linear(part.arg(0));
      next.sum.add_scaled(linear(part.arg(1)), -1);
      if (part.is(ExprKind::Le)) next.sum.add_constant(-1);
      next.is_order = !next.sum.overflow;
    }
    bool redundant = false;
    for (Part& known : kept) {
      if (equal(known.expr, part)) redundant = true;
      if (redundant || !known.is_order || !next.is_order) continue;
      LinearSum difference = next.sum;
      difference.add_scaled(known.sum, -1);
      if (difference.overflow) continue;
      if (difference.terms.empty()) {
        // If the sums differ in their constants only, the tighter condition decides an And, the looser one an
        // Or.
        if ((difference.constant > 0) == is_and) known = next;
        redundant = true;
        continue;
      }
      LinearSum total = next.sum;
      total.add_scaled(known.sum, 1);
      if (total.overflow || !total.terms.empty()) continue;
      if (is_and && total.constant >= -1) return bool_imm(false);
      if (!is_and && total.constant < 0) return bool_imm(true);
    }
    if (!redundant) kept.push_back(std::move(next));
  }

  bool same = kept.size() == written.size();
  for (size_t i = 0; same && i < kept.size(); ++i) same = kept[i].expr.same_as(written[i]);
  if (same) return expr;
  Expr result = bool_imm(is_and);
  for (const Part& part : kept)
    result = is_and ? logical_and(result, part.expr) : logical_or(result, part.expr);
  return result;
}

}  // namespace tunesmith::affine
