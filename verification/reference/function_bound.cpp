// Errors of functions, and their propagation of the arguments' errors.
#include <limits>
#include <numbers>

#include "reference/bound_parts.h"
#include "reference/error_bound.h"
#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

// Allowed error of a function in units of roundoff (docs/targets.md).
constexpr double kFunction = 6.0;        // three units in the last place
constexpr double kNarrowFunction = 1.1;  // computed in a wider type, then rounded

constexpr double kSmallestRoot = 1e-165;  // below the root of any number, and of its error

/// The error of a function with steps of size `apart`: zero where no step is within the argument's error.
Expr of_rounding(MathOp op, const Expr& x, const Expr& error, const Expr& apart) {
  return select(eq(call(op, {x - error}), call(op, {x + error})), number_imm(0.0), error + apart);
}

/// The error of the nearest integer, which grows with x: zero where no tie is within the argument's error.
Expr of_nearest(const Expr& x, const Expr& error, const Expr& result) {
  const Expr low = call(MathOp::RoundEven, {x - error}), high = call(MathOp::RoundEven, {x + error});
  const Expr farthest = max(result - low, high - result);
  // A minimum with a NaN is its second operand.
  return select(eq(low, high), number_imm(0.0), min(farthest, error + number_imm(1.0)));
}

Expr of_reciprocal_root(const Expr& size, const Expr& relative) {
  return of_large(relative, size * relative * (number_imm(0.5) + relative),
                  div(size, square_root(rest(relative))));
}

/// To first order: d(x^y) = x^y (y dx / x + log|x| dy). If that is large, the
/// distance from zero of the power at the ends of the ranges of base and exponent.
Expr of_power(const Expr& size, const Expr& x, const Expr& error, const Expr& exponent,
              const Expr& error_of_exponent) {
  if (!error && !error_of_exponent) return {};
  const Expr base = max(abs_of(x), number_imm(1e-150));
  const Expr of_base = error ? div(error, base) : Expr();
  const Expr relative =
      plus(times(of_base, abs_of(exponent)), times(abs_of(call(MathOp::Log, {base})), error_of_exponent));
  Expr farthest = size;
  for (const Expr& end : {abs_of(x) + or_zero(error), max(abs_of(x) - or_zero(error), number_imm(0.0))})
    for (const Expr& power : {exponent + or_zero(error_of_exponent), exponent - or_zero(error_of_exponent)})
      farthest = max(farthest, call(MathOp::Pow, {end, power}));
  return select(lt(larger(of_base, relative), number_imm(0.5)), size * (relative + relative * relative),
                farthest);
}

/// Results below this may be flushed to zero by a target; null if none may.
Expr taken_for_zero(MathOp op, DType type) {
  constexpr double kExponential = 2.4e-38, kSigmoid = 4.3e-39;  // docs/targets.md
  if (op == MathOp::Sigmoid)
    return number_imm(type.bits == 64 ? std::numeric_limits<double>::min() : kSigmoid);
  return op == MathOp::Exp && type.bits < 64 ? number_imm(kExponential) : Expr();
}

}  // namespace

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
    case MathOp::RoundEven:
      return of_nearest(x, error, result);
    case MathOp::RoundTf32:
      // Neighbours are 2^-10 of their size apart, denormals 2^-136.
      return of_rounding(MathOp::RoundTf32, x, error, size * number_imm(0x1p-10) + number_imm(0x1p-136));
    default:
      break;
  }
  // Only a computation in a wider type surely reaches a value of the result's own type.
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
  if (op == MathOp::Pow) return of_power(size, x, error, twins_.value(expr.arg(1)), of(expr.arg(1)));
  if (!error) return {};
  const Expr tail = error * error;  // second order, where |f''| / 2 is at most one
  // A bounded increasing function errs at most by the distance to its limit on the side of the error.
  const Expr side = on_its_side(expr.arg(0).dtype(), x, error);
  const auto at_most_grown = [&](const Expr& first_order) {
    return min(first_order + tail, call(op, {x + side}) - call(op, {x - side}));
  };
  switch (op) {
    case MathOp::Exp:
      // exp(x) itself may underflow to zero where exp(x + error) does not.
      return select(lt(error, number_imm(1.0)), size * (error + tail), call(MathOp::Exp, {x + side}));
    case MathOp::Log: {
      const Expr relative = div(error, abs_of(x));
      return of_large(relative, relative + relative * relative, -call(MathOp::Log, {rest(relative)}));
    }
    case MathOp::Sqrt:
      return div(error, max(max(result, square_root(error)), number_imm(kSmallestRoot)));
    case MathOp::Rsqrt:
      return of_reciprocal_root(size, div(error, abs_of(x)));
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
      return min(slope * error + tail, number_imm(2.0));
    }
    default:
      throw InternalError("functions that round are no smooth ones, and those of bits are of integers");
  }
}

}  // namespace tunesmith
