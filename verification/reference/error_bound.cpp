#include "reference/error_bound.h"

#include "reference/bound_parts.h"
#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

// Allowed error of an operation in units of roundoff (docs/targets.md).
constexpr double kArithmetic = 1.0;
constexpr double kDivision = 2.0;  // or a product with the rounded reciprocal

/// Is it the sum or difference of a nearest integer and an integer, such as a zero point?
bool shifts_nearest(const Expr& sum) {
  const auto is_nearest = [](const Expr& term) {
    const CallNode* function = term.as<CallNode>();
    return function != nullptr && function->op == MathOp::RoundEven;
  };
  const auto is_whole = [&](const Expr& term) {
    return is_nearest(term) || (term.is(ExprKind::Cast) && !term.arg(0).dtype().is_float());
  };
  const Expr& a = sum.arg(0);
  const Expr& b = sum.arg(1);
  return (is_nearest(a) && is_whole(b)) || (is_whole(a) && is_nearest(b));
}

/// The error of a minimum or maximum: that of one operand where this one is chosen despite rounding.
Expr of_chosen(const Expr& first_is_sure, const Expr& first, const Expr& second_is_sure, const Expr& second) {
  if (!first && !second) return {};
  return select(first_is_sure, or_zero(first),
                select(second_is_sure, or_zero(second), larger(first, second)));
}

}  // namespace

double ErrorBound::underflow(DType type) {
  // Half of the smallest step. A target's conversion to bf16 may flush denormals to zero.
  if (type.scalar() == kBF16) return 0x1p-126;
  if (type.scalar() == kF16) return 0x1p-25;
  return type.bits == 32 ? 0x1p-150 : 0x1p-1074;
}

Expr ErrorBound::of_extreme(const Expr& expr) const {
  const Expr a = number(expr.arg(0));
  const Expr b = number(expr.arg(1));
  const Expr first = of(expr.arg(0));
  const Expr second = of(expr.arg(1));
  const auto side = [&](const Expr& value, const Expr& error) {
    return or_zero(on_its_side(expr.dtype(), value, error));
  };
  const auto low = [&](const Expr& value, const Expr& error) { return value - side(value, error); };
  const auto high = [&](const Expr& value, const Expr& error) { return value + side(value, error); };
  if (expr.is(ExprKind::Max))
    return of_chosen(lt(high(b, second), low(a, first)), first, lt(high(a, first), low(b, second)), second);
  return of_chosen(lt(high(a, first), low(b, second)), first, lt(high(b, second), low(a, first)), second);
}

Expr ErrorBound::number(const Expr& expr) const {
  return expr.dtype().is_float() ? twins_.value(expr) : cast(kF64, twins_.value(expr));
}

Expr ErrorBound::overflow(DType type, const Expr& value) {
  if (type.bits == 64) return {};
  const Expr size = abs_of(value);
  return select(logical_and(lt(number_imm(largest_sure(type)), size),
                            lt(size, number_imm(std::numeric_limits<double>::infinity()))),
                number_imm(kBeyond), number_imm(0.0));
}

Expr ErrorBound::overflow_of(const Expr& expr) const {
  if (twins_.exact(expr) || expr.is(ExprKind::Load)) return {};
  if (expr.is(ExprKind::Select)) {
    const Expr yes = overflow_of(expr.arg(1));
    const Expr no = overflow_of(expr.arg(2));
    return yes || no ? select(twins_.value(expr.arg(0)), or_zero(yes), or_zero(no)) : Expr();
  }
  const bool chooses = expr.is(ExprKind::Min) || expr.is(ExprKind::Max);
  if (chooses && !overflow_of(expr.arg(0)) && !overflow_of(expr.arg(1))) return {};
  return overflow(expr.dtype(), number(expr));
}

Expr ErrorBound::unless_counted(DType type, const Expr& magnitude) {
  return select(le(magnitude, number_imm(1.0 / unit_roundoff(type))), number_imm(0.0), magnitude);
}

Expr ErrorBound::rounding(DType type, const Expr& value, double units, bool underflows,
                          const Expr& carried) const {
  // A value that is or may be infinite is not checked; its
  // bound stays finite for functions that map it to zero (exp).
  const Expr size = abs_of(value);
  Expr error = select(lt(size, number_imm(largest_sure(type))), size * number_imm(units * roundoff(type)),
                      number_imm(kBeyond));
  if (underflows || type.scalar() == kBF16) error = error + number_imm(underflow(type));
  // No type is wider than f64, so nothing would show whether an f64 operation rounds.
  if (twins_.data() != DataKind::Exact || type.bits == 64) return error;
  const Expr fits = eq(cast(kF64, cast(type.scalar(), value)), value);
  return select(carried ? logical_and(fits, eq(carried, number_imm(0.0))) : fits, number_imm(0.0), error);
}

Expr ErrorBound::of_loads(const Expr& expr) const {
  if (expr.is(ExprKind::Load)) return of(expr);
  if (expr.is(ExprKind::Select)) {
    // The condition may guard the loads, so it stays around them.
    const Expr yes = of_loads(expr.arg(1));
    const Expr no = of_loads(expr.arg(2));
    return yes || no ? select(twins_.value(expr.arg(0)), or_zero(yes), or_zero(no)) : Expr();
  }
  Expr error;
  for (const Expr& arg : expr.args()) error = plus(error, of_loads(arg));
  return error;
}

Expr ErrorBound::magnitude(const Expr& expr) const {
  const auto below = [&](size_t i) { return magnitude(expr.arg(i)); };
  switch (expr.kind()) {
    case ExprKind::Load: {
      const LoadNode& access = *expr.as<LoadNode>();
      const auto& sum = twins_.of(access.buffer).sum;
      if (!sum || !sum->magnitude) return abs_of(number(expr));
      std::vector<Expr> indices;
      for (const Expr& index : access.indices()) indices.push_back(twins_.value(index));
      return load(sum->magnitude, std::move(indices), access.mask() ? twins_.value(access.mask()) : Expr());
    }
    case ExprKind::Add:
    case ExprKind::Sub:
      return below(0) + below(1);
    case ExprKind::Mul:
      return below(0) * below(1);
    case ExprKind::Min:
    case ExprKind::Max:
      return max(below(0), below(1));
    case ExprKind::Select:
      return select(twins_.value(expr.arg(0)), below(1), below(2));
    case ExprKind::Cast:
      return expr.arg(0).dtype().is_float() ? below(0) : abs_of(number(expr));
    default:
      return abs_of(number(expr));
  }
}

Expr ErrorBound::of_epilogue(const Expr& expr) const {
  Expr error;
  for (const size_t side : {size_t{0}, size_t{1}}) {
    const LoadNode* access = expr.arg(side).as<LoadNode>();
    if (access == nullptr) continue;
    const auto& sum = twins_.of(access->buffer).sum;
    if (!sum) continue;
    const Expr& other = expr.arg(1 - side);
    Expr size = abs_of(twins_.value(other));
    if (sum->integral) size = size + magnitude(expr.arg(side));
    Expr additions = number_imm(sum->terms);
    if (sum->count) {
      std::vector<Expr> indices;
      for (const Expr& index : access->indices()) indices.push_back(twins_.value(index));
      additions = load(sum->count, std::move(indices));
    }
    error = plus(error, size * square_root(additions) * number_imm(kRoundings * roundoff(expr.dtype())));
  }
  return error;
}

Expr ErrorBound::of_load(const LoadNode& access) const {
  std::vector<Expr> indices;
  Expr doubt;  // how far the choice of the element is in doubt
  for (const Expr& index : access.indices()) {
    indices.push_back(twins_.value(index));
    doubt = larger(doubt, of(index));
  }
  const Buffer& bound = twins_.of(access.buffer).bound;
  const Expr own =
      bound ? load(bound, std::move(indices), access.mask() ? twins_.value(access.mask()) : Expr()) : Expr();
  return doubt ? select(lt(number_imm(0.0), doubt), number_imm(kAnything), or_zero(own)) : own;
}

Expr ErrorBound::of(const Expr& expr) const {
  if (twins_.exact(expr)) return {};
  if (const LoadNode* access = expr.as<LoadNode>()) return of_load(*access);
  if (!expr.dtype().is_float()) return of_discrete(expr);
  if (twins_.integral(expr))
    return plus(of_loads(expr), unless_counted(coarsest_arithmetic(expr), magnitude(expr)));
  const DType type = expr.dtype();
  const auto value = [&](size_t i) { return twins_.value(expr.arg(i)); };
  const auto below = [&](size_t i) { return of(expr.arg(i)); };
  switch (expr.kind()) {
    case ExprKind::Add:
    case ExprKind::Sub: {
      const Expr carried = plus(plus(below(0), below(1)), of_epilogue(expr));
      const Expr own = rounding(type, twins_.value(expr), kArithmetic, false, carried);
      if (!shifts_nearest(expr)) return plus(carried, own);
      // A sum of integers is exact up to the first that the type leaves out.
      const Expr farthest = plus(abs_of(twins_.value(expr)), carried);
      return plus(carried, select(le(farthest, number_imm(1.0 / unit_roundoff(type))), number_imm(0.0), own));
    }
    case ExprKind::Mul: {
      if (const Expr factor = exact_factor(expr)) return of(factor);
      const Expr a = below(0);
      const Expr b = below(1);
      const Expr carried = plus(plus(times(a, abs_of(value(1))), times(b, abs_of(value(0)))), times(a, b));
      return plus(carried, rounding(type, twins_.value(expr), kArithmetic, true, carried));
    }
    case ExprKind::Div: {
      const Expr result = twins_.value(expr);
      const Expr divisor = abs_of(value(1));
      Expr carried = below(0) ? div(below(0), divisor) : Expr();
      if (const Expr error = below(1)) {
        const Expr relative = div(error, divisor);
        carried = plus(carried, abs_of(result) * relative);
        carried = of_large(relative, carried * (number_imm(1.0) + relative * number_imm(2.0)),
                           div(carried, rest(relative)));
      }
      const Expr own = rounding(type, result, kDivision, true, carried);
      const Expr reciprocal = div(number_imm(1.0), value(1));
      return plus(carried,
                  max(own, abs_of(result) * rounding(type, reciprocal, kDivision, true, below(1)) * divisor));
    }
    case ExprKind::Min:
    case ExprKind::Max:
      return of_extreme(expr);
    case ExprKind::Select:
      return of_select(expr);
    case ExprKind::Cast: {
      const Expr carried = below(0);
      const Expr own = holds_all_of(type, expr.arg(0).dtype())
                           ? Expr()
                           : rounding(type, number(expr.arg(0)), kArithmetic, true, carried);
      return plus(carried, own);
    }
    case ExprKind::Call:
      return of_call(expr);
    default:
      throw InternalError("a value without an error bound");
  }
}

Expr ErrorBound::of_select(const Expr& expr) const {
  const Expr condition = twins_.value(expr.arg(0));
  const Expr yes = of(expr.arg(1));
  const Expr no = of(expr.arg(2));
  Expr error = yes || no ? select(condition, or_zero(yes), or_zero(no)) : Expr();
  if (const Expr doubt = of(expr.arg(0))) {
    const Expr apart = abs_of(number(expr.arg(1)) - number(expr.arg(2)));
    error = select(lt(number_imm(0.0), doubt), plus(larger(yes, no), apart), or_zero(error));
  }
  return error;
}

Expr ErrorBound::of_discrete(const Expr& expr) const {
  const auto some = [&](const Expr& doubt, double error) {
    return select(doubt, number_imm(error), number_imm(0.0));
  };
  switch (expr.kind()) {
    case ExprKind::Eq:
    case ExprKind::Ne:
    case ExprKind::Lt:
    case ExprKind::Le: {
      // A comparison of a value with itself only tests for NaN.
      if (equal(expr.arg(0), expr.arg(1))) {
        const Expr error = of(expr.arg(0));
        return error ? some(le(number_imm(kBeyond), error), 1.0) : Expr();
      }
      const Expr error = plus(of(expr.arg(0)), of(expr.arg(1)));
      return some(le(abs_of(number(expr.arg(0)) - number(expr.arg(1))), error), 1.0);
    }
    case ExprKind::And:
    case ExprKind::Or:
    case ExprKind::Min:
    case ExprKind::Max:
      return larger(of(expr.arg(0)), of(expr.arg(1)));
    case ExprKind::Not:
      return of(expr.arg(0));
    case ExprKind::Add:
    case ExprKind::Sub:
      return plus(of(expr.arg(0)), of(expr.arg(1)));
    case ExprKind::Select:
      return of_select(expr);
    case ExprKind::Cast: {
      const Expr error = of(expr.arg(0));
      if (!expr.arg(0).dtype().is_float()) return error;
      const Expr x = twins_.value(expr.arg(0));
      if (expr.dtype().is_bool()) return some(le(abs_of(x), error), 1.0);
      // The conversion is monotone, and saturates beyond the type's range.
      return cast(kF64, cast(expr.dtype(), x + error)) - cast(kF64, cast(expr.dtype(), x - error));
    }
    default: {
      Expr error;
      for (const Expr& arg : expr.args()) error = plus(error, of(arg));
      return some(lt(number_imm(0.0), error), kAnything);
    }
  }
}

}  // namespace tunesmith
