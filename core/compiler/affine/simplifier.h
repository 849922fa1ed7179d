// Implements one query of an Analyzer, over the analyzer's ranges.
#pragma once

#include <span>
#include <utility>

#include "affine/interval.h"
#include "affine/linear_sum.h"
#include "tunesmith/affine/simplify.h"

namespace tunesmith::affine {

class Simplifier {
 public:
  using Ranges = std::span<const std::pair<Var, Interval>>;
  explicit Simplifier(Ranges ranges) : ranges_(ranges) {}

  Expr simplify(const Expr& expr) const;
  /// The linear form of a scalar index expression.
  LinearSum linear(const Expr& expr) const;
  /// The bounds of a scalar index expression, tightened by correlations between terms.
  Interval bounds(const LinearSum& sum) const { return correlated_bounds(sum, 2); }
  /// The bounds of any integer or bool expression, term by term.
  Interval tree_bounds(const Expr& expr) const;

 private:
  // simplifier.cpp
  Expr simplify_args(const Expr& expr) const;
  Expr simplify_select(const Expr& expr) const;
  void accumulate(const Expr& expr, int64_t factor, LinearSum& out) const;
  /// For a FloorDiv or FloorMod.
  void accumulate_quotient(const Expr& expr, int64_t factor, LinearSum& out) const;
  void accumulate_product(const Expr& expr, int64_t factor, LinearSum& out) const;
  static void multiply_out(const LinearSum& a, const LinearSum& b, int64_t factor, LinearSum& out);
  void accumulate_min_max(const Expr& expr, int64_t factor, LinearSum& out) const;

  // divide.cpp: out += factor * (sum // divisor), out += factor * (sum % divisor). If `original` is not null
  // and has the result's form, it becomes the result's atom.
  void divide(LinearSum sum, int64_t divisor, int64_t factor, const Expr& original, LinearSum& out) const;
  void modulo(LinearSum sum, int64_t divisor, int64_t factor, const Expr& original, LinearSum& out) const;
  bool divide_modulo(const LinearSum& sum, int64_t divisor, int64_t factor, LinearSum& out) const;
  bool divide_quotient(LinearSum& sum, int64_t divisor, int64_t factor, LinearSum& out) const;
  bool drop_inner_modulo(LinearSum& sum, int64_t divisor) const;
  bool modulo_of_quotient(const Expr& quotient, int64_t modulus, int64_t factor, LinearSum& out) const;
  /// x//c*c + x%c -> x, and (x//a%b)*a + x%a -> x%(a*b).
  void merge_splits(LinearSum& sum) const;
  bool merge_one_split(LinearSum& sum) const;

  // condition.cpp
  Expr simplify_comparison(const Expr& expr) const;
  Expr simplify_order(const Expr& expr) const;
  bool divide_order(LinearSum& sum) const;
  bool undo_division(LinearSum& sum) const;
  Expr simplify_equality(const Expr& expr) const;
  Expr simplify_junction(const Expr& expr) const;
  Expr simplify_not(const Expr& expr) const;

  // bounds.cpp
  const Interval* range_of(const ExprNode* var) const;
  Interval term_bounds(const LinearSum& sum) const;
  Interval correlated_bounds(const LinearSum& sum, int depth) const;
  /// Do all values of the sum have the same quotient by `divisor`?
  bool has_one_quotient(const LinearSum& sum, int64_t divisor, int64_t* quotient) const {
    return one_quotient(term_bounds(sum), divisor, quotient);
  }
  /// Splits  sum = whole * g + rest  with rest in [0, g); false if that is not proved.
  bool split_by(const LinearSum& sum, int64_t g, LinearSum& whole, LinearSum& rest) const;

  Ranges ranges_;
};

/// The only type that the simplifier changes: data wrap around, and vectors are created later.
inline bool is_index(const DType& type) { return type == kIndex; }

/// The positive constant divisor of a FloorDiv or FloorMod, or 0.
inline int64_t constant_divisor(const Expr& expr) {
  const auto* divisor = expr.arg(1).as<IntImm>();
  return divisor && divisor->value > 0 && representable(divisor->value) ? divisor->value : 0;
}

}  // namespace tunesmith::affine
