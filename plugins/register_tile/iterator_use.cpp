#include "iterator_use.h"

#include <algorithm>
#include <optional>
#include <vector>

namespace tunesmith {
namespace {

bool is_just(const Expr& expr, const Var& var) { return expr.is(ExprKind::Var) && expr.var() == var; }

/// var, or var and a constant.
bool is_shifted(const Expr& expr, const Var& var) {
  if (!expr.is(ExprKind::Add) && !expr.is(ExprKind::Sub)) return is_just(expr, var);
  return is_just(expr.arg(0), var) && expr.arg(1).as_int();
}

/// `found` is 0 or an earlier number: different numbers count as a use of the whole iterator.
void note(int64_t number, int64_t* found, IteratorUse& use) {
  if (*found != 0 && *found != number) use.whole = true;
  *found = number;
}

void add_use(const Expr& expr, const Var& var, IteratorUse& use) {
  if (is_just(expr, var)) use.whole = true;
  if (expr.is(ExprKind::FloorDiv) && is_just(expr.arg(0), var) && expr.arg(1).as_int()) {
    note(*expr.arg(1).as_int(), &use.quotient_by, use);
  } else if (expr.is(ExprKind::FloorMod) && is_shifted(expr.arg(0), var) && expr.arg(1).as_int()) {
    note(*expr.arg(1).as_int(), &use.remainder_by, use);
  } else {
    for (const Expr& arg : expr.args()) add_use(arg, var, use);
  }
}

/// All loads of the buffer in the block's stores.
std::vector<Expr> loads_of(const Block& block, std::string_view buffer) {
  std::vector<Expr> found, open;
  walk(*block.body(), [&](const Stmt& stmt) {
    if (const auto store = stmt.as<Store>()) open.push_back(store->value());
  });
  while (!open.empty()) {
    const Expr expr = open.back();
    open.pop_back();
    if (expr.is(ExprKind::Load) && expr.buffer()->name == buffer) found.push_back(expr);
    for (const Expr& arg : expr.args()) open.push_back(arg);
  }
  return found;
}

/// Nothing if the expression is not linear in it.
std::optional<int64_t> step_of(const Expr& expr, const Var& var) {
  if (expr.is(ExprKind::Var)) return expr.var() == var ? 1 : 0;
  const bool sum = expr.is(ExprKind::Add), difference = expr.is(ExprKind::Sub);
  std::vector<Expr> parts = expr.args();
  if (expr.is(ExprKind::Load)) {
    const std::vector<Expr> indices = expr.indices();
    parts.insert(parts.end(), indices.begin(), indices.end());
  }
  std::vector<int64_t> steps;
  for (const Expr& arg : parts) {
    const std::optional<int64_t> step = step_of(arg, var);
    if (!step) return std::nullopt;
    steps.push_back(*step);
  }
  if (sum) return steps[0] + steps[1];
  if (difference) return steps[0] - steps[1];
  if (std::ranges::all_of(steps, [](int64_t step) { return step == 0; })) return 0;
  if (expr.is(ExprKind::Mul) && expr.arg(1).as_int()) return steps[0] * *expr.arg(1).as_int();
  return std::nullopt;
}

}  // namespace

IteratorUse use_of_iterator(const Block& block, std::string_view buffer, const IterVar& iter) {
  IteratorUse use;
  for (const Expr& load : loads_of(block, buffer)) {
    for (const Expr& index : load.indices()) add_use(index, iter.var, use);
  }
  return use;
}

bool steps_by_one(const Block& block, std::string_view buffer, size_t dimension, const IterVar& iter) {
  const std::vector<Expr> loads = loads_of(block, buffer);
  return std::ranges::all_of(loads, [&](const Expr& load) {
    size_t number = 0;
    for (const Expr& index : load.indices()) {
      if (step_of(index, iter.var) != (number == dimension ? 1 : 0)) return false;
      ++number;
    }
    return true;
  });
}

}  // namespace tunesmith
