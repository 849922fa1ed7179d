// Proves that indices stay within shapes, with the conditions of the selects around them as facts.
#pragma once

#include <cstdint>
#include <vector>

#include "tunesmith/affine/simplify.h"
#include "tunesmith/ir/expr.h"

namespace tunesmith::workload {

/// A value: a copy may learn more facts without the original knowing.
class Prover {
 public:
  void bind(const Var& var, int64_t extent);
  /// From here on `condition` (or, when `holds` is false, its contrary) is a fact.
  void assume(const Expr& condition, bool holds);
  bool nonnegative(const Expr& value) const;
  /// Keeps axes of extent 1, so that the dimensions of reader and writer still correspond.
  Expr simplify(const Expr& value) const { return shaping_.simplify(value); }
  Interval bounds(const Expr& value) const { return analyzer_.bounds(value); }

 private:
  void add_fact(const Expr& nonnegative_value);
  void exclude_zero(const Expr& value);
  void narrow(const Var& var, Interval range);

  Analyzer analyzer_;
  Analyzer shaping_;          // knows the axes longer than 1 only
  std::vector<Expr> facts_;   // each is >= 0
  bool unreachable_ = false;  // the facts exclude each other: the guarded value is never taken
};

}  // namespace tunesmith::workload
