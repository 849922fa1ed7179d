#include "reference/error_bound.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

// Units of roundoff that an operation may err by (docs/targets.md).
constexpr double kArithmetic = 1.0;
constexpr double kDivision = 2.0;        // or a product with the rounded reciprocal
constexpr double kFunction = 6.0;        // three units in the last place
constexpr double kNarrowFunction = 1.1;  // computed in a wider type, then rounded

Expr number_imm(double value) { return float_imm(value, kF64); }
Expr abs_of(const Expr& value) { return call(MathOp::Abs, {value}); }
Expr square_root(const Expr& value) { return call(MathOp::Sqrt, {value}); }

/// Null stands for zero.
Expr plus(const Expr& a, const Expr& b) { return !a ? b : !b ? a : a + b; }
Expr larger(const Expr& a, const Expr& b) { return !a ? b : !b ? a : max(a, b); }
Expr times(const Expr& a, const Expr& b) { return !a || !b ? Expr() : a * b; }
Expr or_zero(const Expr& a) { return a ? a : number_imm(0.0); }

constexpr double kSmallestRoot = 1e-165;  // less than that of any number, or of its error

double roundoff(DType type) {
  // The reference itself is in f64, and rounds as often.
  return type.bits == 64 ? 2.0 * unit_roundoff(type) : unit_roundoff(type);
}

/// What lies beyond it may have become infinite in a right program.
double largest_sure(DType type) {
  if (type.bits == 64) return std::numeric_limits<double>::infinity();
  return type.scalar() == kF16 ? 6e4 : 3e38;
}

/// `expr` where the error of one operand is that of the result: of a maximum, the operand that is larger
/// whatever rounding did.
Expr of_chosen(const Expr& first_is_sure, const Expr& first, const Expr& second_is_sure, const Expr& second) {
  if (!first && !second) return {};
  return select(first_is_sure, or_zero(first),
                select(second_is_sure, or_zero(second), larger(first, second)));
}

/// Of a function with steps, whose values are `apart`: nothing where no step is as near as the error.
Expr of_rounding(MathOp op, const Expr& x, const Expr& error, const Expr& apart) {
  return select(eq(call(op, {x - error}), call(op, {x + error})), number_imm(0.0), error + apart);
}

Expr of_reciprocal_root(const Expr& size, const Expr& relative) {
  return size * relative * (number_imm(0.5) + relative);
}

/// Relative, of first order: d(x^y) = x^y (y dx / x + log|x| dy).
Expr of_power(const Expr& x, const Expr& error, const Expr& exponent, const Expr& error_of_exponent) {
  const Expr base = max(abs_of(x), number_imm(1e-150));
  const Expr of_base = error ? div(abs_of(exponent) * error, base) : Expr();
  return plus(of_base, times(abs_of(call(MathOp::Log, {base})), error_of_exponent));
}

/// What is below it, a target may take for zero; null: it may not.
Expr taken_for_zero(MathOp op, DType type) {
  constexpr double kExponential = 2.4e-38, kSigmoid = 4.3e-39;  // docs/targets.md
  if (op == MathOp::Sigmoid)
    return number_imm(type.bits == 64 ? std::numeric_limits<double>::min() : kSigmoid);
  return op == MathOp::Exp && type.bits < 64 ? number_imm(kExponential) : Expr();
}

}  // namespace

double ErrorBound::underflow(DType type) {
  // Half of the smallest step. A target's conversion to bf16 may take denormals for zero.
  if (type.scalar() == kBF16) return 0x1p-126;
  if (type.scalar() == kF16) return 0x1p-25;
  return type.bits == 32 ? 0x1p-150 : 0x1p-1074;
}

Expr ErrorBound::of_extreme(const Expr& expr) const {
  const Expr a = number(expr.arg(0));
  const Expr b = number(expr.arg(1));
  const Expr first = of(expr.arg(0));
  const Expr second = of(expr.arg(1));
  const auto low = [](const Expr& value, const Expr& error) { return error ? value - error : value; };
  const auto high = [](const Expr& value, const Expr& error) { return error ? value + error : value; };
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
                number_imm(kAnything), number_imm(0.0));
}

Expr ErrorBound::unless_counted(DType type, const Expr& magnitude) {
  return select(le(magnitude, number_imm(1.0 / unit_roundoff(type))), number_imm(0.0), magnitude);
}

Expr ErrorBound::rounding(DType type, const Expr& value, double units, bool underflows,
                          const Expr& carried) const {
  // Of a value that is infinite, or may be, nothing is asked; its bound stays finite for what becomes zero of
  // it (exp).
  const Expr size = abs_of(value);
  const Expr finite = select(lt(size, number_imm(largest_sure(type))), size, number_imm(kAnything));
  Expr error = finite * number_imm(units * roundoff(type));
  if (underflows || type.scalar() == kBF16) error = error + number_imm(underflow(type));
  // f64 has nothing wider that would show whether it rounds.
  if (twins_.data() != DataKind::Exact || type.bits == 64) return error;
  const Expr fits = eq(cast(kF64, cast(type.scalar(), value)), value);
  return select(carried ? logical_and(fits, eq(carried, number_imm(0.0))) : fits, number_imm(0.0), error);
}

Expr ErrorBound::of_loads(const Expr& expr) const {
  if (expr.is(ExprKind::Load)) return of(expr);
  if (expr.is(ExprKind::Select)) {
    // Its condition may guard the loads.
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
  Expr doubt;  // of which element it is
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
      return plus(carried, rounding(type, twins_.value(expr), kArithmetic, false, carried));
    }
    case ExprKind::Mul: {
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
        carried = plus(carried, abs_of(result) * relative) * (number_imm(1.0) + relative * number_imm(2.0));
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

Expr ErrorBound::of_call(const Expr& expr) const {
  const DType type = expr.dtype();
  const Expr x = twins_.value(expr.arg(0));
  const Expr result = twins_.value(expr);
  const Expr size = abs_of(result);
  const Expr error = of(expr.arg(0));
  switch (expr.as<CallNode>()->op) {
    case MathOp::Abs:
      return error;
    case MathOp::Floor:
    case MathOp::Ceil:
      return of_rounding(expr.as<CallNode>()->op, x, error, number_imm(1.0));
    case MathOp::RoundTf32:
      // Two neighbours are 2^-10 of their size apart, and those of denormals 2^-136.
      return of_rounding(MathOp::RoundTf32, x, error, size * number_imm(0x1p-10) + number_imm(0x1p-136));
    default:
      break;
  }
  // Only what is computed in a wider type is sure to hit a value that its own type has.
  const Expr own = type.bits < 32 ? rounding(type, result, kNarrowFunction, true, error)
                                  : size * number_imm(kFunction * roundoff(type)) +
                                        number_imm(kFunction * underflow(type));
  return plus(plus(carried_by_call(expr), own), taken_for_zero(expr.as<CallNode>()->op, type));
}

Expr ErrorBound::carried_by_call(const Expr& expr) const {
  const MathOp op = expr.as<CallNode>()->op;
  const Expr x = twins_.value(expr.arg(0));
  const Expr result = twins_.value(expr);
  const Expr size = abs_of(result);
  const Expr error = of(expr.arg(0));
  const Expr tail = error ? error * error : Expr();  // of second order, where |f''| / 2 is at most one
  // Of a function that grows: no more than it does from one end of where x may be to the other.
  const auto at_most_grown = [&](const Expr& first_order) {
    return error ? min(plus(first_order, tail), call(op, {x + error}) - call(op, {x - error})) : Expr();
  };
  switch (op) {
    case MathOp::Exp:
      return times(size, plus(error, tail));
    case MathOp::Log: {
      const Expr relative = error ? div(error, abs_of(x)) : Expr();
      return plus(relative, times(relative, relative));
    }
    case MathOp::Sqrt:
      return error ? div(error, max(max(result, square_root(error)), number_imm(kSmallestRoot))) : Expr();
    case MathOp::Rsqrt:
      return error ? of_reciprocal_root(size, div(error, abs_of(x))) : Expr();
    case MathOp::Tanh:
      return at_most_grown(times(number_imm(1.0) - result * result, error));
    case MathOp::Sigmoid:
      return at_most_grown(times(result * (number_imm(1.0) - result), error));
    case MathOp::Erf:
      return at_most_grown(
          times(number_imm(2.0 * std::numbers::inv_sqrtpi) * call(MathOp::Exp, {-(x * x)}), error));
    case MathOp::Sin:
    case MathOp::Cos: {
      const Expr slope = abs_of(call(op == MathOp::Sin ? MathOp::Cos : MathOp::Sin, {x}));
      return error ? min(plus(times(slope, error), tail), number_imm(2.0)) : Expr();
    }
    case MathOp::Pow: {
      const Expr relative = of_power(x, error, twins_.value(expr.arg(1)), of(expr.arg(1)));
      return times(size, plus(relative, times(relative, relative)));
    }
    default:
      throw InternalError("functions that round are no smooth ones, and those of bits are of integers");
  }
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
      // It is monotone, and what is beyond the range of the type becomes its end.
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
