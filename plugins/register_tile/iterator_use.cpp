#include "iterator_use.h"

namespace tunesmith {
namespace {

bool is_just(const Expr& expr, const Var& var) { return expr.is(ExprKind::Var) && expr.var() == var; }

/// var, or var and a constant.
bool is_shifted(const Expr& expr, const Var& var) {
  if (!expr.is(ExprKind::Add) && !expr.is(ExprKind::Sub)) return is_just(expr, var);
  return is_just(expr.arg(0), var) && expr.arg(1).as_int();
}

/// `found` is 0 or what was noted before: different numbers are one use of the whole.
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

void add_loads(const Expr& expr, std::string_view buffer, const Var& var, IteratorUse& use) {
  if (expr.is(ExprKind::Load) && expr.buffer()->name == buffer) {
    for (const Expr& index : expr.indices()) add_use(index, var, use);
  }
  for (const Expr& arg : expr.args()) add_loads(arg, buffer, var, use);
}

}  // namespace

IteratorUse use_of_iterator(const Block& block, std::string_view buffer, const IterVar& iter) {
  IteratorUse use;
  walk(*block.body(), [&](const Stmt& stmt) {
    if (const auto store = stmt.as<Store>()) add_loads(store->value(), buffer, iter.var, use);
  });
  return use;
}

}  // namespace tunesmith
