// Building blocks for expressions of error bounds.
#pragma once

#include <limits>

#include "reference/error_bound.h"

namespace tunesmith {

inline Expr number_imm(double value) { return float_imm(value, kF64); }
inline Expr abs_of(const Expr& value) { return call(MathOp::Abs, {value}); }
inline Expr square_root(const Expr& value) { return call(MathOp::Sqrt, {value}); }

/// In these four functions, null means zero.
inline Expr plus(const Expr& a, const Expr& b) { return !a ? b : !b ? a : a + b; }
inline Expr larger(const Expr& a, const Expr& b) { return !a ? b : !b ? a : max(a, b); }
inline Expr times(const Expr& a, const Expr& b) { return !a || !b ? Expr() : a * b; }
inline Expr or_zero(const Expr& a) { return a ? a : number_imm(0.0); }

inline double roundoff(DType type) {
  // The reference itself computes in f64 and rounds as often.
  return type.bits == 64 ? 2.0 * unit_roundoff(type) : unit_roundoff(type);
}

/// Larger values may have become infinite in a correct program.
inline double largest_sure(DType type) {
  if (type.bits == 64) return std::numeric_limits<double>::infinity();
  return type.scalar() == kF16 ? 6e4 : 3e38;
}

/// An error with the first-order term `first_order` that is so large relative to the value
/// (`relative`) that higher orders count: `most` holds from 1 on, where the value may become zero.
inline Expr of_large(const Expr& relative, const Expr& first_order, const Expr& most) {
  return select(lt(relative, number_imm(0.5)), first_order,
                select(lt(relative, number_imm(1.0)), most, number_imm(kAnything)));
}

/// The smallest size of a value of size 1 with this relative error.
inline Expr rest(const Expr& relative) { return number_imm(1.0) - relative; }

/// The error of a value that may be infinite in a correct program. The value's sign is known.
inline Expr on_its_side(DType type, const Expr& value, const Expr& error) {
  if (!error || !type.is_float() || type.bits == 64) return error;
  const Expr size = abs_of(value);
  // Sums of a few kBeyond stay below this.
  const Expr beyond =
      logical_and(lt(number_imm(largest_sure(type)), size), lt(error, number_imm(4.0 * kBeyond)));
  return select(beyond, min(error, size * number_imm(0.5)), error);
}

}  // namespace tunesmith
