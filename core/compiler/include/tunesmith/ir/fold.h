// The semantics of operators on constants, for the folding factories and the interpreter.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "tunesmith/ir/expr.h"

#pragma GCC visibility push(default)
namespace tunesmith {

inline bool is_comparison(ExprKind kind) { return kind >= ExprKind::Eq && kind <= ExprKind::Le; }

/// Requires b != 0, and not INT64_MIN / -1. No intermediate result overflows.
inline int64_t floor_divide(int64_t a, int64_t b) {
  const int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? a / b - 1 : a / b;
}

/// The remainder of floor_divide(), with the sign of `b`; same requirements.
inline int64_t floor_modulo(int64_t a, int64_t b) {
  const int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/// Folds the operators whose u64 result differs from the i64 result of the same bits; nothing for others.
inline std::optional<int64_t> fold_u64(ExprKind kind, uint64_t a, uint64_t b) {
  switch (kind) {
    case ExprKind::Div:
    case ExprKind::FloorDiv:
      return static_cast<int64_t>(a / b);
    case ExprKind::FloorMod:
      return static_cast<int64_t>(a % b);
    case ExprKind::Min:
      return static_cast<int64_t>(std::min(a, b));
    case ExprKind::Max:
      return static_cast<int64_t>(std::max(a, b));
    case ExprKind::Lt:
      return a < b;
    case ExprKind::Le:
      return a <= b;
    default:
      return std::nullopt;
  }
}

/// The result in i64, before wrapping to `type`; nothing for a division by zero or a kind without an integer
/// result. `a` and `b` are values of `type`, an integer type or bool.
inline std::optional<int64_t> fold_int(ExprKind kind, int64_t a, int64_t b, DType type) {
  const auto ua = static_cast<uint64_t>(a);
  const auto ub = static_cast<uint64_t>(b);
  if (type.is_unsigned_int() && type.bits == 64 &&
      (b != 0 || is_comparison(kind) || kind == ExprKind::Min || kind == ExprKind::Max)) {
    if (const auto unsigned_result = fold_u64(kind, ua, ub)) return unsigned_result;
  }
  switch (kind) {
    case ExprKind::Add:
      return static_cast<int64_t>(ua + ub);
    case ExprKind::Sub:
      return static_cast<int64_t>(ua - ub);
    case ExprKind::Mul:
      return static_cast<int64_t>(ua * ub);
    case ExprKind::Div:
    case ExprKind::FloorDiv:
      if (b == 0) return std::nullopt;
      if (b == -1) return static_cast<int64_t>(uint64_t{0} - ua);
      return kind == ExprKind::Div ? a / b : floor_divide(a, b);
    case ExprKind::FloorMod:
      if (b == 0) return std::nullopt;
      return b == -1 ? 0 : floor_modulo(a, b);
    case ExprKind::Min:
      return std::min(a, b);
    case ExprKind::Max:
      return std::max(a, b);
    case ExprKind::Eq:
      return a == b;
    case ExprKind::Ne:
      return a != b;
    case ExprKind::Lt:
      return a < b;
    case ExprKind::Le:
      return a <= b;
    case ExprKind::And:
      return a != 0 && b != 0;
    case ExprKind::Or:
      return a != 0 || b != 0;
    default:
      return std::nullopt;
  }
}

/// Floating arithmetic before rounding to the type: f64 has more than twice the digits of the
/// narrower types, so rounding once more gives the same result as the type's own operation.
inline std::optional<double> fold_float(ExprKind kind, double a, double b) {
  switch (kind) {
    case ExprKind::Add:
      return a + b;
    case ExprKind::Sub:
      return a - b;
    case ExprKind::Mul:
      return a * b;
    case ExprKind::Div:
      return a / b;
    case ExprKind::Min:
      return a < b ? a : b;
    case ExprKind::Max:
      return a > b ? a : b;
    default:
      return std::nullopt;
  }
}

/// Compares floats; with a NaN only Ne is true.
inline bool compare_float(ExprKind kind, double a, double b) {
  switch (kind) {
    case ExprKind::Eq:
      return a == b;
    case ExprKind::Ne:
      return a != b;
    case ExprKind::Lt:
      return a < b;
    default:
      return a <= b;
  }
}

/// Converts an integer to a floating type, before rounding to a type narrower than
/// f32. Rounds to f32 directly, since a large integer would round twice by way of f64.
double int_to_float(int64_t value, DType from, DType to);
/// A bit operation on two integers of `type`.
int64_t evaluate_bits(MathOp op, int64_t a, int64_t b, DType type);
/// Converts a float to an integer type: rounds towards zero, saturates, and maps NaN to 0.
int64_t float_to_int(double value, DType type);
/// An elementwise function in f64, before rounding. Only Pow uses `b`.
double evaluate_math(MathOp op, double a, double b);

}  // namespace tunesmith
#pragma GCC visibility pop
