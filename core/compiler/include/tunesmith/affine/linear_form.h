// Splits conditions into conjuncts, and linear forms into terms.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tunesmith/affine/simplify.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// The terms of a conjunction; none if it is constant true.
std::vector<Expr> conjuncts(const Expr& predicate);

/// The expression that is at least 0 exactly if `condition` holds: b - a for a <= b, b - a - 1 for a < b.
/// Nothing if `condition` is not a comparison of indices by <= or <.
std::optional<LinearForm> slack_of(const Expr& condition, const Analyzer& analyzer);

/// Removes the term whose atom is `var`. Returns its coefficient; 0 if there is none.
int64_t take_term(LinearForm& form, const Var& var);

/// Does `var` occur inside an atom, so that the form is not linear in it?
bool hides(const LinearForm& form, const Var& var);

/// A linear form, divided by the variables in its atoms.
struct LinearParts {
  LinearForm moving;    // terms over the moving variables alone; no constant
  LinearForm standing;  // terms over other variables, and the constant
  std::vector<LinearForm::Term> mixed;
};
LinearParts parts_of(const LinearForm& form, std::span<const Var> moving);

}  // namespace tunesmith
#pragma GCC visibility pop
