// Floor division and modulo of canonical sums by a positive constant.
#include <functional>
#include <numeric>

#include "affine/simplifier.h"
#include "tunesmith/support/contains.h"

namespace tunesmith::affine {
namespace {

using Divisors = boost::container::small_vector<int64_t, 6>;

/// The values of gcd(divisor, coefficient) > 1 over the terms, the largest first.
Divisors common_divisors(const LinearSum& sum, int64_t divisor) {
  Divisors found;
  for (const auto& term : sum.terms) {
    const int64_t g = std::gcd(divisor, term.coefficient);
    if (g > 1 && !contains(found, g)) found.push_back(g);
  }
  std::sort(found.begin(), found.end(), std::greater<>());
  return found;
}

/// Reduces coefficients beyond the divisor towards zero; false if there are none. `whole` gets the quotients.
bool reduce_coefficients(const LinearSum& sum, int64_t divisor, LinearSum& whole, LinearSum& rest) {
  bool any = false;
  rest.constant = sum.constant;
  for (const auto& [coefficient, atom] : sum.terms) {
    const int64_t quotient = coefficient / divisor;
    any = any || quotient != 0;
    if (quotient != 0) whole.terms.push_back({quotient, atom});
    if (coefficient % divisor != 0) rest.terms.push_back({coefficient % divisor, atom});
  }
  return any;
}

bool is_plain(const LinearSum& sum) {
  return sum.terms.size() == 1 && sum.terms[0].coefficient == 1 && sum.constant == 0;
}

bool share_variable(const Expr& a, const Expr& b) {
  if (a.is(ExprKind::Var)) return uses_var(b, Var::from(a));
  return std::any_of(a.args().begin(), a.args().end(),
                     [&](const Expr& arg) { return share_variable(arg, b); });
}

/// Digits of one variable, as in x//3 + x%3*2, bound more together than rewritten one by one.
bool shares_variable(const LinearSum& sum, const Expr& atom) {
  return std::any_of(sum.terms.begin(), sum.terms.end(),
                     [&](const LinearSum::Term& term) { return share_variable(term.atom, atom); });
}

/// The index of the only FloorDiv by a constant among the atoms, if its coefficient is 1; else -1.
int single_quotient_term(const LinearSum& sum) {
  int found = -1;
  for (size_t i = 0; i < sum.terms.size(); ++i) {
    const auto& [coefficient, atom] = sum.terms[i];
    if (!atom.is(ExprKind::FloorDiv) || constant_divisor(atom) == 0) continue;
    if (found >= 0 || coefficient != 1) return -1;
    found = static_cast<int>(i);
  }
  return found;
}

Expr quotient_atom(ExprKind kind, const LinearSum& sum, int64_t divisor, const Expr& original) {
  if (original && constant_divisor(original) == divisor && sum.is_form_of(original.arg(0))) return original;
  const Expr operand = original ? sum.to_expr_like(original.arg(0)) : sum.to_expr();
  return kind == ExprKind::FloorDiv ? floordiv(operand, int_imm(divisor))
                                    : floormod(operand, int_imm(divisor));
}

}  // namespace

void Simplifier::divide(LinearSum sum, int64_t divisor, int64_t factor, const Expr& original,
                        LinearSum& out) const {
  if (divisor == 1 || sum.overflow) {
    out.add_scaled(sum, factor);
    return;
  }
  // Moves the terms that the divisor divides to the quotient.
  size_t kept = 0;
  for (auto& term : sum.terms) {
    if (term.coefficient % divisor == 0) {
      out.add_term(saturating_mul(term.coefficient / divisor, factor), term.atom);
    } else {
      std::swap(sum.terms[kept++], term);
    }
  }
  sum.terms.resize(kept);
  const int64_t whole_constant = floor_divide(sum.constant, divisor);
  out.add_constant(saturating_mul(whole_constant, factor));
  sum.constant -= whole_constant * divisor;
  if (sum.terms.empty()) return;

  int64_t quotient = 0;
  if (has_one_quotient(sum, divisor, &quotient)) {
    out.add_constant(saturating_mul(quotient, factor));
    return;
  }
  LinearSum whole;
  LinearSum rest;
  if (reduce_coefficients(sum, divisor, whole, rest) && has_one_quotient(rest, divisor, &quotient)) {
    whole.constant = quotient;
    out.add_scaled(whole, factor);
    return;
  }
  // (g*x + rest) // (g*d) = x // d  with rest in [0, g).
  for (const int64_t g : common_divisors(sum, divisor)) {
    LinearSum upper;
    LinearSum lower;
    if (!split_by(sum, g, upper, lower)) continue;
    divide(std::move(upper), divisor / g, factor, {}, out);
    return;
  }
  if (divide_modulo(sum, divisor, factor, out) || divide_quotient(sum, divisor, factor, out)) return;
  out.add_term(factor, quotient_atom(ExprKind::FloorDiv, sum, divisor, original));
}

// (x % (d*m)) // d = (x // d) % m
bool Simplifier::divide_modulo(const LinearSum& sum, int64_t divisor, int64_t factor, LinearSum& out) const {
  if (!is_plain(sum) || !sum.terms[0].atom.is(ExprKind::FloorMod)) return false;
  const Expr& atom = sum.terms[0].atom;
  const int64_t modulus = constant_divisor(atom);
  if (modulus == 0 || modulus % divisor != 0) return false;
  LinearSum inner;
  divide(linear(atom.arg(0)), divisor, 1, {}, inner);
  modulo(std::move(inner), modulus / divisor, factor, {}, out);
  return true;
}

// (x // a + y) // d = (x + a*y) // (a*d)
bool Simplifier::divide_quotient(LinearSum& sum, int64_t divisor, int64_t factor, LinearSum& out) const {
  const int at = single_quotient_term(sum);
  if (at < 0) return false;
  const Expr atom = sum.terms[static_cast<size_t>(at)].atom;
  const int64_t inner = constant_divisor(atom);
  LinearSum dividend = linear(atom.arg(0));
  sum.remove_term(static_cast<size_t>(at));
  dividend.add_scaled(sum, inner);
  const int64_t product = saturating_mul(inner, divisor);
  if (!dividend.overflow && representable(product) && !shares_variable(sum, atom)) {
    divide(std::move(dividend), product, factor, {}, out);
    return true;
  }
  sum.add_term(1, atom);
  return false;
}

// (c * (x % m)) % d = (c * x) % d  if d divides c*m.
bool Simplifier::drop_inner_modulo(LinearSum& sum, int64_t divisor) const {
  for (size_t i = 0; i < sum.terms.size(); ++i) {
    const auto [coefficient, atom] = sum.terms[i];
    const int64_t modulus = atom.is(ExprKind::FloorMod) ? constant_divisor(atom) : 0;
    const int64_t period = saturating_mul(coefficient, modulus);
    if (modulus == 0 || !representable(period) || period % divisor != 0) continue;
    LinearSum without = sum;
    without.remove_term(i);
    if (shares_variable(without, atom)) continue;
    without.add_scaled(linear(atom.arg(0)), coefficient);
    if (without.overflow) continue;
    merge_splits(without);
    sum = std::move(without);
    return true;
  }
  return false;
}

// (x // d) % m  depends on  x % (d*m)  only: true if that makes it simpler.
bool Simplifier::modulo_of_quotient(const Expr& quotient, int64_t modulus, int64_t factor,
                                    LinearSum& out) const {
  const int64_t divisor = constant_divisor(quotient);
  const int64_t period = saturating_mul(divisor, modulus);
  if (divisor == 0 || !representable(period)) return false;
  LinearSum operand = linear(quotient.arg(0));
  bool simpler = false;
  for (size_t i = operand.terms.size(); i-- > 0;) {
    if (operand.terms[i].coefficient % period != 0) continue;
    operand.remove_term(i);
    simpler = true;
  }
  simpler = drop_inner_modulo(operand, period) || simpler;
  if (!simpler || operand.overflow) return false;
  LinearSum divided;
  divide(std::move(operand), divisor, 1, {}, divided);
  modulo(std::move(divided), modulus, factor, {}, out);
  return true;
}

void Simplifier::modulo(LinearSum sum, int64_t divisor, int64_t factor, const Expr& original,
                        LinearSum& out) const {
  if (divisor == 1) return;
  if (sum.overflow) {
    out.overflow = true;
    return;
  }
  int64_t quotient = 0;
  for (bool changed = true; changed;) {
    size_t kept = 0;
    for (auto& term : sum.terms) {
      if (term.coefficient % divisor != 0) std::swap(sum.terms[kept++], term);
    }
    sum.terms.resize(kept);
    sum.constant = floor_modulo(sum.constant, divisor);
    if (has_one_quotient(sum, divisor, &quotient)) {
      out.add_scaled(sum, factor);
      out.add_constant(saturating_mul(-quotient * divisor, factor));
      return;
    }
    changed = drop_inner_modulo(sum, divisor);
  }

  if (is_plain(sum) && sum.terms[0].atom.is(ExprKind::FloorDiv) &&
      modulo_of_quotient(sum.terms[0].atom, divisor, factor, out))
    return;
  LinearSum whole;
  LinearSum rest;
  if (reduce_coefficients(sum, divisor, whole, rest) && has_one_quotient(rest, divisor, &quotient)) {
    out.add_scaled(rest, factor);
    out.add_constant(saturating_mul(-quotient * divisor, factor));
    return;
  }
  // (g*x + rest) % (g*d) = g * (x % d) + rest  with rest in [0, g).
  for (const int64_t g : common_divisors(sum, divisor)) {
    LinearSum upper;
    LinearSum lower;
    if (!split_by(sum, g, upper, lower)) continue;
    out.add_scaled(lower, factor);
    modulo(std::move(upper), divisor / g, saturating_mul(factor, g), {}, out);
    return;
  }
  out.add_term(factor, quotient_atom(ExprKind::FloorMod, sum, divisor, original));
}

void Simplifier::merge_splits(LinearSum& sum) const {
  while (!sum.overflow && merge_one_split(sum)) {
  }
}

bool Simplifier::merge_one_split(LinearSum& sum) const {
  for (size_t i = 0; i < sum.terms.size(); ++i) {
    const auto [factor, atom] = sum.terms[i];
    const int64_t modulus = atom.is(ExprKind::FloorMod) ? constant_divisor(atom) : 0;
    if (modulus == 0) continue;
    const int64_t upper_factor = saturating_mul(factor, modulus);
    const auto has_factor = [&](const LinearSum::Term& term) { return term.coefficient == upper_factor; };
    if (std::none_of(sum.terms.begin(), sum.terms.end(), has_factor)) continue;

    const LinearSum low = linear(atom.arg(0));
    LinearSum quotient;
    divide(low, modulus, 1, {}, quotient);
    if (quotient.overflow || quotient.terms.empty()) continue;
    // All of  upper_factor * (x // m)  is in the sum: x remains.
    LinearSum merged = sum;
    merged.add_scaled(quotient, -upper_factor);
    if (merged.terms.size() + quotient.terms.size() == sum.terms.size()) {
      merged.add_term(-factor, atom);
      merged.add_scaled(low, factor);
      sum = std::move(merged);
      return true;
    }
    // upper_factor * ((x // m) % n)  is in the sum: x % (m*n) remains.
    for (const auto& upper : sum.terms) {
      const int64_t upper_modulus = upper.atom.is(ExprKind::FloorMod) ? constant_divisor(upper.atom) : 0;
      if (upper_modulus == 0 || upper.coefficient != upper_factor) continue;
      const LinearSum operand = linear(upper.atom.arg(0));
      LinearSum difference = operand;
      difference.add_scaled(quotient, -1);
      const int64_t product = saturating_mul(modulus, upper_modulus);
      if (!difference.terms.empty() || difference.constant % upper_modulus != 0 || !representable(product))
        continue;
      merged = sum;
      merged.add_term(-factor, atom);
      merged.add_term(-upper_factor, upper.atom);
      modulo(low, product, factor, {}, merged);
      sum = std::move(merged);
      return true;
    }
  }
  return false;
}

}  // namespace tunesmith::affine
