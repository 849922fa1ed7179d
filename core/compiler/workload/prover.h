// Proves that indices stay within shapes, using the conditions of enclosing selects as facts.
#pragma once

#include <cstdint>
#include <vector>

#include "tunesmith/affine/simplify.h"
#include "tunesmith/ir/expr.h"

namespace tunesmith::workload {

/// A value: facts that are added to a copy do not affect the original.
class Prover {
 public:
  void bind(const Var& var, int64_t extent);
  /// Adds `condition`, or its negation if `holds` is false, as a fact.
  void assume(const Expr& condition, bool holds);
  bool nonnegative(const Expr& value) const;
  /// Simplifies, but keeps axes of extent 1, so that the dimensions of readers and writers still correspond.
  Expr simplify(const Expr& value) const { return shaping_.simplify(value); }
  Interval bounds(const Expr& value) const { return analyzer_.bounds(value); }

 private:
  void add_fact(const Expr& nonnegative_value);
  void exclude_zero(const Expr& value);
  void narrow(const Var& var, Interval range);

  Analyzer analyzer_;
  Analyzer shaping_;          // without axes of extent 1
  std::vector<Expr> facts_;   // each is >= 0
  bool unreachable_ = false;  // the facts contradict each other: the guarded value is never used
};

}  // namespace tunesmith::workload
