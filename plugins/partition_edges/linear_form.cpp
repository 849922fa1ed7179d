#include "linear_form.h"

#include <algorithm>
#include <utility>

namespace tunesmith {
namespace {

LinearForm plus(LinearForm form, const LinearForm& other, int64_t sign) {
  form.constant += sign * other.constant;
  for (size_t i = 0; i < form.coefficients.size(); ++i) form.coefficients[i] += sign * other.coefficients[i];
  return form;
}

}  // namespace

LoopConditions::LoopConditions(const Block& block)
    : block_(block), loops_(loops_above(block)), iters_(block.iters()) {}

std::optional<LinearForm> LoopConditions::form_of(const Expr& expr) const {
  LinearForm form{0, std::vector<int64_t>(loops_.size(), 0)};
  switch (expr.kind()) {
    case ExprKind::IntImm:
      form.constant = *expr.as_int();
      return form;
    case ExprKind::Var: {
      const Var var = expr.var();
      for (size_t i = 0; i < loops_.size(); ++i) {
        if (loops_[i]->var() != var) continue;
        form.coefficients[i] = 1;
        return form;
      }
      const auto iter = std::ranges::find_if(iters_, [&](const IterVar& each) { return each.var == var; });
      return iter == iters_.end() ? std::nullopt : form_of(iter->binding);
    }
    case ExprKind::Add:
      return form_of_sum(expr, 1);
    case ExprKind::Sub:
      return form_of_sum(expr, -1);
    case ExprKind::Mul:
      return form_of_product(expr);
    default:
      return std::nullopt;
  }
}

std::optional<LinearForm> LoopConditions::form_of_sum(const Expr& expr, int64_t sign) const {
  std::optional<LinearForm> left = form_of(expr.arg(0));
  const std::optional<LinearForm> right = form_of(expr.arg(1));
  if (!left || !right) return std::nullopt;
  return plus(std::move(*left), *right, sign);
}

std::optional<LinearForm> LoopConditions::form_of_product(const Expr& expr) const {
  for (const uint32_t side : {0U, 1U}) {
    const std::optional<int64_t> factor = expr.arg(side).as_int();
    if (!factor) continue;
    std::optional<LinearForm> form = form_of(expr.arg(1 - side));
    if (!form) return std::nullopt;
    form->constant *= *factor;
    for (int64_t& coefficient : form->coefficients) coefficient *= *factor;
    return form;
  }
  return std::nullopt;
}

void LoopConditions::add_conjuncts(const Expr& condition, std::vector<LinearForm>& forms) const {
  if (condition.is(ExprKind::And)) {
    add_conjuncts(condition.arg(0), forms);
    add_conjuncts(condition.arg(1), forms);
    return;
  }
  if (!condition.is(ExprKind::Lt) && !condition.is(ExprKind::Le)) return;
  const std::optional<LinearForm> left = form_of(condition.arg(0));
  std::optional<LinearForm> right = form_of(condition.arg(1));
  if (!left || !right) return;
  LinearForm form = plus(std::move(*right), *left, -1);
  if (condition.is(ExprKind::Lt)) --form.constant;
  forms.push_back(std::move(form));
}

void LoopConditions::add_selects(const Expr& expr, std::vector<LinearForm>& forms) const {
  if (expr.is(ExprKind::Select)) add_conjuncts(expr.arg(0), forms);
  for (const Expr& arg : expr.args()) add_selects(arg, forms);
}

std::vector<LinearForm> LoopConditions::of_predicate() const {
  std::vector<LinearForm> forms;
  if (block_.predicate()) add_conjuncts(block_.predicate(), forms);
  return forms;
}

std::vector<LinearForm> LoopConditions::of_selects() const {
  std::vector<LinearForm> forms;
  walk(*block_.body(), [&](const Stmt& stmt) {
    if (const auto store = stmt.as<Store>()) add_selects(store->value(), forms);
  });
  return forms;
}

}  // namespace tunesmith
