// The meaning of operators on constants, shared by the factories, which fold them, and the interpreter.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "tunesmith/ir/expr.h"

#pragma GCC visibility push(default)
namespace tunesmith {

inline bool is_comparison(ExprKind kind) { return kind >= ExprKind::Eq && kind <= ExprKind::Le; }

/// Of any numbers but the least one and -1; no step leaves the range.
inline int64_t floor_divide(int64_t a, int64_t b) {
  const int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? a / b - 1 : a / b;
}

/// Likewise.
inline int64_t floor_modulo(int64_t a, int64_t b) {
  const int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/// Of two numbers of u64, where they differ from those of the i64 with the same bits; else nothing.
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

/// The result in i64, wrapping; nothing for a division by zero. `a` and `b` are values of `type`, an integer
/// type or bool.
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

/// Arithmetic on floats before rounding to the type: f64 has more than twice the digits of the narrower
/// types, so that rounding the result once more gives what the type's own operation gives.
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

/// Comparisons of floats; with a NaN only Ne is true.
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

/// A number of an integer type as one of a floating type, before rounding to that where it is narrower than
/// f32: to f32 directly, since by way of f64 a large integer would round twice.
double int_to_float(int64_t value, DType from, DType to);
/// A function of two integers of `type`.
int64_t evaluate_bits(MathOp op, int64_t a, int64_t b, DType type);
/// A float as an integer type's value: towards zero, what does not fit at the nearest end, NaN as 0.
int64_t float_to_int(double value, DType type);
/// An elementwise function in f64, before rounding. `b` counts for Pow only.
double evaluate_math(MathOp op, double a, double b);

}  // namespace tunesmith
#pragma GCC visibility pop
