// Turns a condition that bounds a loop into the loop's range. The condition is an If around the whole body,
// or a Select without which a reduction step adds nothing, as on the padding of a convolution.
#include <algorithm>
#include <optional>

#include "analysis/loop_tools.h"
#include "tunesmith/affine/linear_form.h"
#include "tunesmith/affine/simplify.h"
#include "tunesmith/analysis/barriers.h"
#include "tunesmith/ir/regions.h"
#include "tunesmith/ir/tree_surgery.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/lower/passes.h"

namespace tunesmith {
namespace {

Expr without(const Expr& condition, const Expr& part) {
  Expr rest = bool_imm(true);
  for (const Expr& other : conjuncts(condition)) {
    if (!equal(other, part)) rest = logical_and(rest, other);
  }
  return rest;
}

bool has_conjunct(const Expr& condition, const Expr& part) {
  for (const Expr& other : conjuncts(condition)) {
    if (equal(other, part)) return true;
  }
  return false;
}

/// The range of a loop in which a condition holds.
struct Bound {
  Expr first;  // null: from the beginning
  Expr end;    // null: to the end
};

/// The bound by `condition`, whose other variables belong to outer loops.
std::optional<Bound> bound_of(const Expr& condition, const Var& var, const Analyzer& analyzer) {
  std::optional<LinearForm> slack = slack_of(condition, analyzer);
  if (!slack) return std::nullopt;
  const int64_t c = take_term(*slack, var);
  const Expr rest = slack->to_expr();
  const auto moves = [&](const Expr& part) { return part.is(ExprKind::Load) || part.get() == var.get(); };
  if (c == 0 || any_of_expr(rest, moves)) return std::nullopt;
  if (c > 0) return Bound{floordiv(Expr(c - 1) - rest, c), {}};
  return Bound{{}, floordiv(rest, -c) + 1};
}

bool is_alone(const Stmt& stmt) {
  const Seq* seq = stmt.parent->as<Seq>();
  return seq == nullptr || seq->children().size() == 1;
}

enum class Company { Alone, Any };

/// The innermost loop around `stmt` on which `condition` depends; for Alone, only if `stmt` is the loop's
/// whole body.
Loop* loop_of(const Stmt& stmt, const Expr& condition, Company company) {
  for (const Stmt* at = &stmt; at->parent != nullptr; at = at->parent) {
    if (company == Company::Alone && !is_alone(*at)) return nullptr;
    if (const If* branch = at->parent->as<If>(); branch != nullptr && branch->else_case() != nullptr)
      return nullptr;
    if (at->parent->kind == StmtKind::Allocate) return nullptr;
    Loop* loop = at->parent->as<Loop>();
    if (loop != nullptr && uses_var(condition, loop->var)) return loop;
  }
  return nullptr;
}

bool in_vector(const Loop& loop, const Expr& condition) {
  return loop_above(loop, [&](const Loop& outer) {
           return is_vectorized(outer) && uses_var(condition, outer.var);
         }) != nullptr;
}

enum class Ranges { Any, Constant };

/// Tightens the loop (null: none); true if it now runs exactly where `condition` holds.
bool tighten(Loop* loop, const Expr& condition, Ranges ranges = Ranges::Any) {
  if (loop == nullptr || in_vector(*loop, condition)) return false;
  if (loop->loop_kind != LoopKind::Serial && loop->loop_kind != LoopKind::Unrolled) return false;
  const Analyzer outside = Analyzer::at(*loop);
  const std::optional<Bound> bound = bound_of(condition, loop->var, outside);
  if (!bound.has_value()) return false;
  Expr first = loop->min;
  Expr end = loop->min + loop->extent;
  if (bound->first) first = max(first, bound->first);
  if (bound->end) end = min(end, bound->end);
  first = outside.simplify(first);
  const Expr extent = outside.simplify(end - first);
  // Targets write unrolled loops out, so their ranges must be constants.
  const bool constant = first.is(ExprKind::IntImm) && extent.is(ExprKind::IntImm);
  if ((ranges == Ranges::Constant || loop->loop_kind == LoopKind::Unrolled) && !constant) return false;
  // All threads must reach a barrier equally often.
  if (has_barrier(*loop)) return false;
  loop->min = first;
  loop->extent = extent;
  return true;
}

/// An accumulator can be moved out of loops, but not out of an If or a loop that may have no iterations,
/// because its element may not exist then.
bool accumulates(const Stmt& stmt) {
  return find_first<Store>(stmt, [](const Store& store) { return loads_from(store.value, store.buffer); }) !=
         nullptr;
}

/// The condition in the lane for which it holds first; null if it is the same in all lanes.
Expr for_some_lane(const Stmt& stmt, const Expr& condition) {
  if (!condition.is(ExprKind::Lt) && !condition.is(ExprKind::Le)) return {};
  Expr result;
  for (const Stmt* above = stmt.parent; above != nullptr; above = above->parent) {
    const Loop* loop = above->as<Loop>();
    if (loop == nullptr || loop->loop_kind != LoopKind::Vectorized || !uses_var(condition, loop->var))
      continue;
    const LinearForm excess = Analyzer().linear(condition.arg(0) - condition.arg(1));
    const int64_t c = excess.coefficient_of(loop->var);
    if (c == 0 || hides(excess, loop->var)) return {};
    result = substitute(condition, {{loop->var, c > 0 ? loop->min : loop->min + loop->extent - 1}});
  }
  return result;
}

/// Tightens loops; the branch keeps the parts that no loop can take.
void tighten_by(If& branch) {
  if (branch.else_case() != nullptr) return;
  const Ranges ranges = accumulates(branch) ? Ranges::Constant : Ranges::Any;
  for (const Expr& part : conjuncts(branch.condition)) {
    if (tighten(loop_of(branch, part, Company::Alone), part, ranges)) {
      branch.condition = without(branch.condition, part);
    } else if (const Expr some = for_some_lane(branch, part)) {
      tighten(loop_of(branch, some, Company::Alone), some, ranges);  // skips iterations without a lane
    }
  }
  if (!is_const_int(branch.condition, 1)) return;
  unwrap(branch);
}

bool is_zero(const Expr& expr) {
  const FloatImm* number = expr.as<FloatImm>();
  return is_const_int(expr, 0) || (number != nullptr && number->value == 0);
}

/// Is `term` neutral where `condition` does not hold: equal to `neutral`, or, if that is zero, a product with
/// zero? Ignores infinite and NaN factors: padding contributes nothing.
bool is_neutral_without(const Expr& term, const Expr& condition, const Expr& neutral) {
  if (term.is(ExprKind::Select)) {
    return has_conjunct(term.arg(0), condition) && equal(term.arg(2), neutral);
  }
  if (!is_zero(neutral)) return false;
  const auto in_zero_of = [&](const Expr& factor) {
    return is_neutral_without(factor, condition, constant(0, factor.dtype()));
  };
  if (term.is(ExprKind::Mul)) return in_zero_of(term.arg(0)) || in_zero_of(term.arg(1));
  return term.is(ExprKind::Cast) && in_zero_of(term.arg(0));
}

/// The value that the store combines with its element, and the neutral value; nothing for another form.
std::optional<std::pair<Expr, Expr>> combined(const Store& store) {
  const ExprKind op = store.value.kind();
  if (op != ExprKind::Add && op != ExprKind::Min && op != ExprKind::Max) return std::nullopt;
  for (const size_t own : {0, 1}) {
    if (is_own_element(store.value.arg(own), store))
      return std::pair(store.value.arg(1 - own), reduction_identity(op, store.value.dtype()));
  }
  return std::nullopt;
}

bool adds_nothing_without(const Store& store, const Expr& condition) {
  const auto step = combined(store);
  return step.has_value() && is_neutral_without(step->first, condition, step->second);
}

void drop_condition(Store& store, const Expr& condition) {
  store.value = rewrite_expr(store.value, [&](const Expr& part) {
    if (!part.is(ExprKind::Select) || !has_conjunct(part.arg(0), condition)) return part;
    const Expr rest = without(part.arg(0), condition);
    return is_const_int(rest, 1) ? part.arg(1) : select(rest, part.arg(1), part.arg(2));
  });
}

/// Tightens only if all stores under the condition's loop do nothing where it does not hold, as in the pieces
/// of a partitioned inner loop.
void tighten_by(Store& store) {
  const auto step = combined(store);
  if (!step.has_value()) return;
  std::vector<Expr> candidates;
  walk_expr(step->first, [&](const Expr& part) {
    if (!part.is(ExprKind::Select)) return;
    for (Expr& condition : conjuncts(part.arg(0))) candidates.push_back(std::move(condition));
  });
  for (const Expr& condition : candidates) {
    Loop* loop = loop_of(store, condition, Company::Any);
    if (loop == nullptr) continue;
    const std::vector<Store*> together = collect<Store>(*loop);
    const bool idle = std::ranges::all_of(
        together, [&](const Store* other) { return adds_nothing_without(*other, condition); });
    if (!idle || !tighten(loop, condition)) continue;
    for (Store* other : together) drop_condition(*other, condition);
  }
}

bool is_zero_product(const Expr& term) {
  if (term.is(ExprKind::Mul)) return is_zero_product(term.arg(0)) || is_zero_product(term.arg(1));
  return is_zero(term) || (term.is(ExprKind::Cast) && is_zero_product(term.arg(0)));
}

/// True for a step that adds nothing, as in a piece of a loop that lies on padding.
bool does_nothing(const Store& store) {
  if (is_own_element(store.value, store)) return true;
  const auto step = combined(store);
  if (!step.has_value()) return false;
  return equal(step->first, step->second) || (is_zero(step->second) && is_zero_product(step->first));
}

}  // namespace

void tighten_loops(Program& program) {
  const std::vector<If*> branches = collect<If>(program.root());
  const std::vector<Store*> stores = collect<Store>(program.root());
  for (Store* store : stores) tighten_by(*store);
  for (Store* store : stores) {
    if (does_nothing(*store)) replace(*store, std::make_unique<Seq>());
  }
  for (If* branch : branches) tighten_by(*branch);
}

}  // namespace tunesmith
