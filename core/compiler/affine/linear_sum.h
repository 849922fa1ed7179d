// The simplifier's working form: a LinearForm that stores its first terms without allocation.
#pragma once

#include <boost/container/small_vector.hpp>

#include "tunesmith/affine/simplify.h"

namespace tunesmith::affine {

struct LinearSum {
  using Term = LinearForm::Term;

  boost::container::small_vector<Term, 6> terms;  // ordered by compare_order, no coefficient 0
  int64_t constant = 0;
  /// A coefficient exceeded the range of exact arithmetic: the sum is invalid, and its user keeps the
  /// original expression.
  bool overflow = false;

  void add_term(int64_t coefficient, const Expr& atom);
  void add_constant(int64_t value);
  /// this += other * factor
  void add_scaled(const LinearSum& other, int64_t factor);
  void remove_term(size_t position) { terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(position)); }

  Expr to_expr() const;
  /// Is `expr` the expression that to_expr() would build, with the same atoms?
  bool is_form_of(const Expr& expr) const;
  /// to_expr(), or `original` if it already has that form.
  Expr to_expr_like(const Expr& original) const { return is_form_of(original) ? original : to_expr(); }
};

}  // namespace tunesmith::affine
