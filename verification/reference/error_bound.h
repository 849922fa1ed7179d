// How far a right program's value may be from the reference, as an expression that the reference computes
// beside the value.
//
// Rounding is counted where it happens and in the type that it happens in (running error analysis; Higham,
// Accuracy and Stability of Numerical Algorithms, section 3.3): an operation in a type of unit roundoff u
// adds u * |result| to what its operands' errors make of it, to first order. A sum of n terms t in that type
// adds kRoundings * u * sqrt(sum of s * s + n * sum of t * t): the root of the sum of squares, because the
// roundings of a sum's additions are independent, with the partial sums s of the order as written, and all
// terms for the partial sums of any other, in which the largest may come first. Where terms have few
// different values, or the type is narrow, roundings are not independent, and their sizes add up. Adding what
// is too small to change a sum errs by no more than that. In a long sum terms come near the step h = u * |s|
// that the sum can still make, and what they lose goes one way: min(|t|, h * h / |t|) is added for each. For
// terms of a density of total variation V the drift is at most V * h * h / 2 a term (Euler and Maclaurin); of
// terms uniform up to b that is less once b > 1.7 h.
//
// Terms that lie orders of magnitude apart (exponentials, quotients) may be lost in any sum, however short.
// To add t to a partial sum p errs by at most |t|, since p itself is a number of the type, and by at most u *
// |p + t|. A program may begin with the largest terms, so that all others meet a partial sum as large as any,
// M = |S| + 4 * the root of all t * t. What is below h = u * M is then lost by its own size, always in the
// direction of zero; what is above it drifts by h * h / |t| as above. Exponentials of small numbers, on the
// other hand, are nearly equal: terms within h of each other are all rounded in one direction, by h at most,
// and those of a density that ends after d drift by h * h / d. So min(|t|, h * h / max(min(|t|, d), h)) is
// added for each term, with d its distance from the mean of all, in a second pass, since M and the mean are
// known only when the sum is. In a narrow type, whose roundings' sizes add up in any case, only what is below
// h is.
#pragma once

#include "tunesmith/verification/reference_twins.h"

namespace tunesmith {

/// Roundings of one sum have a standard deviation of about 0.4 of the partial sums in
/// their own order, whose mean square is x * n * sum of t * t with a probability of exp(-x
/// * pi * pi / 2) (a Brownian bridge). Beyond 4 standard deviations lies one sum in 1e13.
inline constexpr double kRoundings = 4.0;
/// The error of a value about which nothing is known; its square is finite.
inline constexpr double kAnything = 1e120;
/// The error of a value that overflows a correct program's type: it may be infinite,
/// with a known sign. The root of this still exceeds all types that overflow.
inline constexpr double kBeyond = 1e110;

/// Makes expressions over the twins, which must outlive it.
class ErrorBound {
 public:
  explicit ErrorBound(const Twins& twins) : twins_(twins) {}

  /// The error of a value in any correct program; null if all agree exactly.
  Expr of(const Expr& expr) const;
  /// The errors that loaded values contribute to `expr`; null if there are
  /// none. For sums of terms whose own roundings are counted elsewhere.
  Expr of_loads(const Expr& expr) const;
  /// A bound of `expr` and of every part of it: the sum of its terms' magnitudes.
  Expr magnitude(const Expr& expr) const;
  /// kBeyond where `value` (f64) does not fit `type`, else 0.
  static Expr overflow(DType type, const Expr& value);
  /// The same for an expression's intermediate values; null if none can overflow.
  Expr overflow_of(const Expr& expr) const;
  /// The rounding error of `type` in the denormal range.
  static double underflow(DType type);
  /// 0 where integers up to `magnitude` are exact in `type`, else `magnitude`.
  static Expr unless_counted(DType type, const Expr& magnitude);

 private:
  Expr of_load(const LoadNode& access) const;
  Expr of_discrete(const Expr& expr) const;
  /// For a minimum or maximum.
  Expr of_extreme(const Expr& expr) const;
  Expr of_select(const Expr& expr) const;
  Expr of_call(const Expr& expr) const;
  /// The result's error due to an error of a smooth function's argument.
  Expr carried_by_call(const Expr& expr) const;
  /// For an epilogue that the loop of a sum may use as its initial value.
  Expr of_epilogue(const Expr& expr) const;
  /// `carried`: the operands' contribution to the error of `value`, null for none. An
  /// operation whose exact result fits its type still rounds if an operand has an error.
  Expr rounding(DType type, const Expr& value, double units, bool underflows, const Expr& carried) const;
  Expr number(const Expr& expr) const;

  const Twins& twins_;
};

}  // namespace tunesmith
