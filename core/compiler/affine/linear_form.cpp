#include "tunesmith/affine/linear_form.h"

#include <algorithm>

#include "tunesmith/ir/visit.h"

namespace tunesmith {

std::vector<Expr> conjuncts(const Expr& predicate) {
  if (!predicate.is(ExprKind::And)) {
    return is_const_int(predicate, 1) ? std::vector<Expr>{} : std::vector<Expr>{predicate};
  }
  std::vector<Expr> terms = conjuncts(predicate.arg(0));
  for (Expr& term : conjuncts(predicate.arg(1))) terms.push_back(std::move(term));
  return terms;
}

std::optional<LinearForm> slack_of(const Expr& condition, const Analyzer& analyzer) {
  const bool strict = condition.is(ExprKind::Lt);
  if ((!strict && !condition.is(ExprKind::Le)) || condition.arg(0).dtype() != kIndex) return std::nullopt;
  LinearForm slack = analyzer.linear(condition.arg(1) - condition.arg(0));
  if (strict) slack.constant -= 1;
  return slack;
}

int64_t take_term(LinearForm& form, const Var& var) {
  const int64_t coefficient = form.coefficient_of(var);
  std::erase_if(form.terms, [&](const LinearForm::Term& term) { return term.atom.same_as(var); });
  return coefficient;
}

bool hides(const LinearForm& form, const Var& var) {
  return std::any_of(form.terms.begin(), form.terms.end(), [&](const LinearForm::Term& term) {
    return !term.atom.same_as(var) && uses_var(term.atom, var);
  });
}

LinearParts parts_of(const LinearForm& form, std::span<const Var> moving) {
  LinearParts parts;
  parts.standing.constant = form.constant;
  for (const LinearForm::Term& term : form.terms) {
    bool moves = false;
    bool stands = false;
    walk_expr(term.atom, [&](const Expr& part) {
      // A loaded index may have any value within its bounds, whichever variables change.
      if (part.is(ExprKind::Load)) moves = stands = true;
      if (!part.is(ExprKind::Var)) return;
      const bool known =
          std::any_of(moving.begin(), moving.end(), [&](const Var& var) { return part.same_as(var); });
      (known ? moves : stands) = true;
    });
    if (moves && stands) {
      parts.mixed.push_back(term);
    } else {
      (moves ? parts.moving : parts.standing).terms.push_back(term);
    }
  }
  return parts;
}

}  // namespace tunesmith
