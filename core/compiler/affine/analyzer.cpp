#include "affine/simplifier.h"
#include "tunesmith/affine/simplify.h"

namespace tunesmith {

using affine::is_index;
using affine::LinearSum;
using affine::Simplifier;

Expr LinearForm::to_expr() const {
  LinearSum sum;
  for (const Term& term : terms) sum.add_term(term.coefficient, term.atom);
  sum.add_constant(constant);
  return sum.to_expr();
}

int64_t LinearForm::coefficient_of(const Var& var) const {
  for (const Term& term : terms) {
    if (term.atom.get() == var.get()) return term.coefficient;
  }
  return 0;
}

Analyzer Analyzer::at(const Stmt& stmt) {
  std::vector<const Stmt*> above;
  for (const Stmt* up = stmt.parent; up; up = up->parent) above.push_back(up);
  Analyzer analyzer;
  for (auto it = above.rbegin(); it != above.rend(); ++it) {
    if (const auto* loop = (*it)->as<Loop>()) {
      analyzer.bind(*loop);
    } else if (const auto* block = (*it)->as<Block>()) {
      analyzer.bind(*block);
    }
  }
  return analyzer;
}

void Analyzer::bind(const Loop& loop) {
  // A fast path: most loops have constant bounds, and almost every question binds loops.
  int64_t min = 0;
  int64_t extent = 0;
  if (as_const_int(loop.min, &min) && as_const_int(loop.extent, &extent) && affine::representable(min) &&
      affine::representable(extent)) {
    return bind(loop.var, Interval{min, min + extent - 1});
  }
  const Interval first = bounds(loop.min);
  const Interval end = bounds(loop.min + loop.extent);
  bind(loop.var, Interval{first.min, end.max >= Interval::kMax ? Interval::kMax : end.max - 1});
}

void Analyzer::bind(const Block& block) {
  for (const IterVar& iter : block.iters) bind(iter.var, iter.extent);
}

void Analyzer::bind(const Var& var, Interval range) {
  range = {std::max(range.min, Interval::kMin), std::min(range.max, Interval::kMax)};
  for (auto& [bound, known] : ranges_) {
    if (bound == var) {
      known = range;
      return;
    }
  }
  ranges_.emplace_back(var, range);
}

std::optional<Interval> Analyzer::range_of(const Var& var) const {
  for (const auto& [bound, range] : ranges_) {
    if (bound == var) return range;
  }
  return std::nullopt;
}

Interval Analyzer::bounds(const Expr& expr) const {
  const Simplifier simplifier(ranges_);
  if (!is_index(expr.dtype())) return simplifier.tree_bounds(simplifier.simplify(expr));
  return simplifier.bounds(simplifier.linear(expr));
}

Expr Analyzer::simplify(const Expr& expr) const { return expr ? Simplifier(ranges_).simplify(expr) : expr; }

LinearForm Analyzer::linear(const Expr& expr) const {
  const Simplifier simplifier(ranges_);
  if (is_index(expr.dtype())) {
    const LinearSum sum = simplifier.linear(expr);
    if (!sum.overflow) return {{sum.terms.begin(), sum.terms.end()}, sum.constant};
    return {{{1, expr}}, 0};
  }
  return {{{1, simplifier.simplify(expr)}}, 0};
}

bool Analyzer::can_prove(const Expr& condition) const { return is_const_int(simplify(condition), 1); }

bool Analyzer::can_prove_equal(const Expr& a, const Expr& b) const {
  const Simplifier simplifier(ranges_);
  if (!is_index(a.dtype()) || !is_index(b.dtype()))
    return equal(simplifier.simplify(a), simplifier.simplify(b));
  LinearSum difference = simplifier.linear(a);
  difference.add_scaled(simplifier.linear(b), -1);
  const Interval range = simplifier.bounds(difference);
  return !difference.overflow && range.min == 0 && range.max == 0;
}

}  // namespace tunesmith
