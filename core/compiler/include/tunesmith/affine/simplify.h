// Simplifies index arithmetic to canonical sums of coefficient * (term // d % m) plus a constant, and
// computes its bounds. Integer data wrap around, so only the indices inside them are simplified.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "tunesmith/ir/expr.h"
#include "tunesmith/ir/stmt.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// A closed interval, unbounded at kMin and kMax.
struct Interval {
  static constexpr int64_t kMin = std::numeric_limits<int64_t>::min() / 4;
  static constexpr int64_t kMax = std::numeric_limits<int64_t>::max() / 4;
  int64_t min = kMin;
  int64_t max = kMax;
  bool is_point() const { return min == max; }
  bool bounded() const { return min > kMin && max < kMax; }
};

/// The sum of coefficient * atom, plus a constant. Atoms are variables or non-linear terms (FloorDiv,
/// FloorMod, Min, ...), simplified, structurally distinct and in a fixed structural order (variables by
/// serial).
struct LinearForm {
  struct Term {
    int64_t coefficient = 0;
    Expr atom;
  };
  std::vector<Term> terms;
  int64_t constant = 0;

  Expr to_expr() const;
  /// The coefficient of the atom `var`; 0 if there is none.
  int64_t coefficient_of(const Var& var) const;
};

/// Reasons about index expressions by the ranges of their variables. Cheap to construct and copy; not
/// thread-safe.
class Analyzer {
 public:
  Analyzer() = default;
  /// With the ranges of all enclosing loops up to the root, and the domains of the enclosing blocks'
  /// iteration variables.
  static Analyzer at(const Stmt& stmt);

  void bind(const Var& var, Interval range);
  /// Binds to [0, extent).
  void bind(const Var& var, int64_t extent) { bind(var, Interval{0, extent - 1}); }
  void bind(const IterDomain& domain) { bind(domain.var, domain.extent); }
  /// Adds the loop's variable. The loop's bounds may use variables that were bound before.
  void bind(const Loop& loop);
  /// Adds the block's iteration variables with their domains.
  void bind(const Block& block);
  std::optional<Interval> range_of(const Var& var) const;

  /// An interval that contains every value of an integer expression. Exact for linear forms over independent
  /// variables.
  Interval bounds(const Expr& expr) const;
  /// The canonical form, with the same value within the ranges; conditions that are always true or false
  /// become constants. In expressions that are not indices, only the indices inside are simplified.
  Expr simplify(const Expr& expr) const;
  LinearForm linear(const Expr& expr) const;
  /// True only if `condition` holds for all values of the variables.
  bool can_prove(const Expr& condition) const;
  bool can_prove_equal(const Expr& a, const Expr& b) const;

 private:
  std::vector<std::pair<Var, Interval>> ranges_;
};

}  // namespace tunesmith
#pragma GCC visibility pop
