#include "affine/simplifier.h"

namespace tunesmith::affine {
namespace {

Interval type_range(const DType& type) {
  if (type.is_bool()) return {0, 1};
  if (type.is_unsigned_int() && type.bits == 64) return {0, Interval::kMax};
  if (!type.is_int() || type.bits >= 62) return {};
  const int64_t half = int64_t{1} << (type.bits - 1);
  return type.code == TypeCode::UInt ? Interval{0, 2 * half - 1} : Interval{-half, half - 1};
}

/// The interval of the smaller of two values in `a` and `b`.
Interval min_of(const Interval& a, const Interval& b) {
  return {std::min(a.min, b.min), std::min(a.max, b.max)};
}
Interval max_of(const Interval& a, const Interval& b) {
  return {std::max(a.min, b.min), std::max(a.max, b.max)};
}

/// The interval of a value for which  divisor * value  lies in `a`; rounds by floor and ceil.
Interval undo_scale(const Interval& a, int64_t divisor) {
  return {a.min <= Interval::kMin ? Interval::kMin : -floor_divide(-a.min, divisor),
          a.max >= Interval::kMax ? Interval::kMax : floor_divide(a.max, divisor)};
}

}  // namespace

const Interval* Simplifier::range_of(const ExprNode* var) const {
  for (const auto& [bound, range] : ranges_) {
    if (bound.get() == var) return &range;
  }
  return nullptr;
}

Interval Simplifier::tree_bounds(const Expr& expr) const {
  const DType type = expr.dtype();
  const auto arg = [&](size_t i) { return tree_bounds(expr.arg(i)); };
  // Arithmetic on data wraps around, so that only the type bounds it.
  if (!type.is_index() && expr.kind() >= ExprKind::Add && expr.kind() <= ExprKind::FloorMod)
    return type_range(type.scalar());
  switch (expr.kind()) {
    case ExprKind::IntImm: {
      const int64_t value = expr.as<IntImm>()->value;
      return representable(value) && (value >= 0 || !type.is_unsigned_int()) ? point(value)
                                                                             : type_range(type.scalar());
    }
    case ExprKind::Var: {
      const Interval* range = range_of(expr.get());
      if (range != nullptr) return *range;
      const VarNode& var = *expr.as<VarNode>();
      return var.is_parameter() ? Interval{var.lowest, var.highest} : type_range(type.scalar());
    }
    case ExprKind::Add:
      return arg(0) + arg(1);
    case ExprKind::Sub:
      return arg(0) + arg(1) * -1;
    case ExprKind::Mul: {
      int64_t factor = 0;
      return as_const_int(expr.arg(1), &factor) ? arg(0) * factor : arg(0) * arg(1);
    }
    case ExprKind::FloorDiv:
      if (const int64_t divisor = constant_divisor(expr)) return floor_div(arg(0), divisor);
      return {};
    case ExprKind::FloorMod:
      if (const int64_t divisor = constant_divisor(expr)) return floor_mod(arg(0), divisor);
      return {};
    case ExprKind::Min:
      return min_of(arg(0), arg(1));
    case ExprKind::Max:
      return max_of(arg(0), arg(1));
    case ExprKind::Select:
      return hull(arg(1), arg(2));
    case ExprKind::Broadcast:
      return arg(0);
    case ExprKind::Cast: {
      const Interval to = type_range(type.scalar());
      if (!expr.arg(0).dtype().is_int() && !expr.arg(0).dtype().is_bool()) return to;
      const Interval from = arg(0);
      // Casts of u64 values that an i64 does not hold wrap around.
      if (from.max >= Interval::kMax && expr.arg(0).dtype().is_unsigned_int()) return to;
      return from.min >= to.min && from.max <= to.max ? from : to;
    }
    default:
      return type_range(type.scalar());
  }
}

Interval Simplifier::term_bounds(const LinearSum& sum) const {
  Interval total = point(sum.constant);
  for (const auto& [coefficient, atom] : sum.terms) total = total + tree_bounds(atom) * coefficient;
  return total;
}

Interval Simplifier::correlated_bounds(const LinearSum& sum, int depth) const {
  if (sum.overflow) return {};
  Interval result = term_bounds(sum);
  if (depth == 0 || sum.terms.size() < 2) return result;
  for (size_t i = 0; i < sum.terms.size(); ++i) {
    const int64_t coefficient = sum.terms[i].coefficient;
    const Expr atom = sum.terms[i].atom;
    if (atom.is(ExprKind::Min) || atom.is(ExprKind::Max)) {
      // rest + c * min(a, b) is one of rest + c * a and rest + c * b: the smaller if c > 0.
      Interval sides[2];
      for (size_t side = 0; side < 2; ++side) {
        LinearSum one = sum;
        one.remove_term(i);
        one.add_scaled(linear(atom.arg(side)), coefficient);
        sides[side] = correlated_bounds(one, depth - 1);
      }
      const bool smaller = atom.is(ExprKind::Min) == (coefficient > 0);
      result = intersect(result, smaller ? min_of(sides[0], sides[1]) : max_of(sides[0], sides[1]));
    } else if (const int64_t divisor = atom.is(ExprKind::FloorDiv) ? constant_divisor(atom) : 0) {
      // divisor * (x // divisor) = x - r with r in [0, divisor).
      LinearSum scaled;
      scaled.add_scaled(sum, divisor);
      scaled.add_term(saturating_mul(-coefficient, divisor), atom);
      scaled.add_scaled(linear(atom.arg(0)), coefficient);
      const Interval wide = correlated_bounds(scaled, depth - 1) + Interval{0, divisor - 1} * -coefficient;
      result = intersect(result, undo_scale(wide, divisor));
    }
  }
  return result;
}

bool Simplifier::split_by(const LinearSum& sum, int64_t g, LinearSum& whole, LinearSum& rest) const {
  for (const auto& [coefficient, atom] : sum.terms) {
    if (coefficient % g == 0) {
      whole.terms.push_back({coefficient / g, atom});
    } else {
      rest.terms.push_back({coefficient, atom});
    }
  }
  rest.constant = sum.constant;
  int64_t quotient = 0;
  if (!has_one_quotient(rest, g, &quotient)) return false;
  whole.constant = quotient;
  rest.constant -= quotient * g;
  return true;
}

}  // namespace tunesmith::affine
