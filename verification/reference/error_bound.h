// The error bound of a correct program's value, as an expression that the reference computes with the value.
//
// Running error analysis (Higham, Accuracy and Stability of Numerical Algorithms, section 3.3) counts each
// rounding in the type in which it happens: to first order, an operation in a type of unit roundoff u adds u
// * |result| to the propagated errors of its operands. A sum of n terms t in that type adds kRoundings * u *
// sqrt(sum of s * s + n * sum of t * t): the root of the sum of squares, because the roundings of a sum's
// additions are independent. The partial sums s are those of the written order; the second part bounds the
// partial sums of any other order, in which the largest terms may come first. If terms have few different
// values, or the type is narrow, roundings are not independent, and their magnitudes add up. Adding a term
// that is too small to change a sum errs by no more than that. In a long sum, terms come near the resolution
// h = u * |s| of the partial sum, and their losses have one direction: min(|t|, h * h / |t|) is added for
// each. For terms with a density of total variation V, the drift is at most V * h * h / 2 per term (Euler and
// Maclaurin); for terms uniform up to b, that is less if b > 1.7 h.
//
// Terms that are orders of magnitude apart (exponentials, quotients) may be lost in any sum, however short.
// Adding t to a partial sum p errs by at most |t|, since p itself is a number of the type, and by at most u *
// |p + t|. A program may begin with the largest terms, so that all others are added to the largest possible
// partial sum, M = |S| + 4 * the root of all t * t. Terms below h = u * M are then lost entirely, always
// towards zero; larger ones drift by h * h / |t| as above. Exponentials of small numbers, however, are nearly
// equal: terms within h of each other are all rounded in one direction, by h at most, and those with a
// density of width d drift by h * h / d. So min(|t|, h * h / max(min(|t|, d), h)) is added for each term,
// where d is its distance from the mean of all terms, in a second pass, since M and the mean are known only
// after the sum. In a narrow type, where magnitudes of roundings add up in any case, only terms below h are
// counted.
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
