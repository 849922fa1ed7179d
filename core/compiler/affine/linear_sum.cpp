#include "affine/linear_sum.h"

#include "affine/interval.h"
#include "affine/order.h"

namespace tunesmith::affine {
namespace {

Expr term_expr(int64_t coefficient, const Expr& atom) {
  return coefficient == 1 ? atom : atom * int_imm(coefficient);
}

bool is_term(const Expr& expr, int64_t coefficient, const Expr& atom) {
  if (coefficient == 1) return expr.same_as(atom);
  return expr.is(ExprKind::Mul) && expr.arg(0).same_as(atom) && is_const_int(expr.arg(1), coefficient);
}

}  // namespace

void LinearSum::add_term(int64_t coefficient, const Expr& atom) {
  if (coefficient == 0) return;
  if (!representable(coefficient)) {
    overflow = true;
    return;
  }
  auto at = terms.begin();
  for (; at != terms.end(); ++at) {
    const int order = compare_order(at->atom, atom);
    if (order > 0) break;
    if (order == 0 && equal(at->atom, atom)) {
      at->coefficient += coefficient;
      if (!representable(at->coefficient)) overflow = true;
      if (at->coefficient == 0) terms.erase(at);
      return;
    }
  }
  terms.insert(at, Term{coefficient, atom});
}

void LinearSum::add_constant(int64_t value) {
  if (!representable(value)) {
    overflow = true;
    return;
  }
  constant += value;
  if (!representable(constant)) {
    overflow = true;
    constant = 0;
  }
}

void LinearSum::add_scaled(const LinearSum& other, int64_t factor) {
  overflow = overflow || other.overflow;
  for (const Term& term : other.terms) add_term(saturating_mul(term.coefficient, factor), term.atom);
  add_constant(saturating_mul(other.constant, factor));
}

// Prints positive terms, then the constant if nothing else is positive, then subtracted terms, then the
// constant: `i*4 + j - k - 1`, `7 - i`.
Expr LinearSum::to_expr() const {
  Expr sum;
  for (const Term& term : terms) {
    if (term.coefficient < 0) continue;
    const Expr part = term_expr(term.coefficient, term.atom);
    sum = sum ? sum + part : part;
  }
  const bool constant_leads = !sum && (constant > 0 || terms.empty());
  if (constant_leads) sum = int_imm(constant);
  for (const Term& term : terms) {
    if (term.coefficient > 0) continue;
    sum = sum ? sum - term_expr(-term.coefficient, term.atom) : term.atom * int_imm(term.coefficient);
  }
  if (constant_leads || constant == 0) return sum;
  return constant > 0 ? sum + int_imm(constant) : sum - int_imm(-constant);
}

bool LinearSum::is_form_of(const Expr& expr) const {
  bool any_positive = false;
  for (const Term& term : terms) any_positive = any_positive || term.coefficient > 0;
  const bool constant_leads = !any_positive && (constant > 0 || terms.empty());
  if (terms.empty()) return is_const_int(expr, constant);

  // From the last part to the first, which is the bottom of the left spine.
  const Expr* rest = &expr;
  if (!constant_leads && constant != 0) {
    if (!rest->is(constant > 0 ? ExprKind::Add : ExprKind::Sub)) return false;
    if (!is_const_int(rest->arg(1), constant > 0 ? constant : -constant)) return false;
    rest = &rest->arg(0);
  }
  size_t left = terms.size();
  for (const bool positive : {false, true}) {
    for (size_t i = terms.size(); i-- > 0;) {
      const Term& term = terms[i];
      if ((term.coefficient > 0) != positive) continue;
      --left;
      if (left == 0 && !constant_leads) return is_term(*rest, term.coefficient, term.atom);
      if (!rest->is(positive ? ExprKind::Add : ExprKind::Sub)) return false;
      if (!is_term(rest->arg(1), positive ? term.coefficient : -term.coefficient, term.atom)) return false;
      rest = &rest->arg(0);
    }
  }
  return is_const_int(*rest, constant);
}

}  // namespace tunesmith::affine
