// Conditions and linear forms taken apart.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tunesmith/affine/simplify.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// The terms of a conjunction; none when it is constantly true.
std::vector<Expr> conjuncts(const Expr& predicate);

/// What must be 0 or more for `condition` to hold: b - a of  a <= b,  one less of  a < b.  Nothing when it is
/// no such order of indices.
std::optional<LinearForm> slack_of(const Expr& condition, const Analyzer& analyzer);

/// Takes the term that is `var` itself out of the form; its coefficient, 0 when there was none.
int64_t take_term(LinearForm& form, const Var& var);

/// Does `var` stand inside of an atom, so that the form is not linear in it?
bool hides(const LinearForm& form, const Var& var);

/// A form by what its atoms speak of.
struct LinearParts {
  LinearForm moving;    // atoms over the moving variables alone; no constant
  LinearForm standing;  // atoms over other variables, and the constant
  std::vector<LinearForm::Term> mixed;
};
LinearParts parts_of(const LinearForm& form, std::span<const Var> moving);

}  // namespace tunesmith
#pragma GCC visibility pop
