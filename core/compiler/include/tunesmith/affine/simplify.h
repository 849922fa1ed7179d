// Simplifies index arithmetic to canonical sums of coefficient * (term // d % m) plus a constant,
// and bounds it. Integer data wrap around, so only the indices inside them are simplified.
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

/// A closed interval; kMin and kMax stand for unbounded.
struct Interval {
  static constexpr int64_t kMin = std::numeric_limits<int64_t>::min() / 4;
  static constexpr int64_t kMax = std::numeric_limits<int64_t>::max() / 4;
  int64_t min = kMin;
  int64_t max = kMax;
  bool is_point() const { return min == max; }
  bool bounded() const { return min > kMin && max < kMax; }
};

/// sum of coefficient * atom + constant. Atoms are variables or non-linear terms (FloorDiv, FloorMod, Min,
/// ...), each itself simplified, structurally distinct, ordered by a fixed structural order (variables by
/// serial).
struct LinearForm {
  struct Term {
    int64_t coefficient = 0;
    Expr atom;
  };
  std::vector<Term> terms;
  int64_t constant = 0;

  Expr to_expr() const;
  /// The coefficient of `var` as an atom of its own (0 when absent).
  int64_t coefficient_of(const Var& var) const;
};

/// Knows the ranges of variables and reasons about index expressions. Cheap to copy and to build; not
/// thread-safe.
class Analyzer {
 public:
  Analyzer() = default;
  /// Ranges of all loops above `stmt` (up to the root, through blocks: a block's iteration variables get
  /// their domains).
  static Analyzer at(const Stmt& stmt);

  void bind(const Var& var, Interval range);
  /// var in [0, extent).
  void bind(const Var& var, int64_t extent) { bind(var, Interval{0, extent - 1}); }
  void bind(const IterDomain& domain) { bind(domain.var, domain.extent); }
  /// Adds the loop's variable. The loop's bounds may use variables that are already known.
  void bind(const Loop& loop);
  /// Adds the block's iteration variables with their domains.
  void bind(const Block& block);
  std::optional<Interval> range_of(const Var& var) const;

  /// The smallest interval that can be proved to hold every value of an
  /// integer expression. Exact for linear forms over independent variables.
  Interval bounds(const Expr& expr) const;
  /// The canonical form; conditions that are always true or false become constants. The value is preserved
  /// within the ranges. In expressions that are not indices only the indices inside are simplified.
  Expr simplify(const Expr& expr) const;
  LinearForm linear(const Expr& expr) const;
  /// True only when `condition` holds for all values of the variables.
  bool can_prove(const Expr& condition) const;
  bool can_prove_equal(const Expr& a, const Expr& b) const;

 private:
  std::vector<std::pair<Var, Interval>> ranges_;
};

}  // namespace tunesmith
#pragma GCC visibility pop
