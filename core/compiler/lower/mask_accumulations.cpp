#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "analysis/loop_tools.h"
#include "lower/masks.h"
#include "tunesmith/affine/linear_form.h"
#include "tunesmith/affine/simplify.h"
#include "tunesmith/ir/extents.h"
#include "tunesmith/ir/regions.h"
#include "tunesmith/ir/tree_surgery.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/lower/passes.h"

namespace tunesmith {
namespace {

/// The guards and loops around an accumulating store, up to its outermost reduction loop.
struct Surroundings {
  std::vector<If*> guards;   // innermost first
  std::vector<Var> reduced;  // serial loops whose iterations accumulate into one element
  std::vector<Var> vectorized;
  std::vector<const Loop*> tile;  // the other loops inside them
};

/// Is `inner` the only effect of `outer`, through loops and conditions?
bool holds_only(const Stmt& outer, const Stmt& inner) {
  const Stmt* at = &inner;
  while (at != &outer) {
    at = at->parent;
    const Seq* seq = at->as<Seq>();
    if (seq != nullptr && seq->children().size() != 1) return false;
    const If* branch = at->as<If>();
    if (branch != nullptr && branch->else_case() != nullptr) return false;
    if (at->kind == StmtKind::Allocate) return false;
  }
  return true;
}

Surroundings surroundings_of(Store& store) {
  Surroundings around;
  std::vector<const Loop*> inside;
  for (Stmt* at = store.parent; at != nullptr; at = at->parent) {
    if (If* guard = at->as<If>()) {
      if (holds_only(*guard, store)) around.guards.push_back(guard);
      continue;
    }
    const Loop* loop = at->as<Loop>();
    if (loop == nullptr) continue;
    if (loop->loop_kind == LoopKind::Vectorized) {
      around.vectorized.push_back(loop->var);
    } else if (loop->loop_kind != LoopKind::Serial) {
      inside.push_back(loop);
    } else if (std::ranges::any_of(store.indices,
                                   [&](const Expr& index) { return uses_var(index, loop->var); })) {
      break;
    } else {
      around.reduced.push_back(loop->var);
      around.tile.insert(around.tile.end(), inside.begin(), inside.end());
      inside.clear();
    }
  }
  return around;
}

/// Could the value trap where the guard does not hold: by a division by an arbitrary element?
bool may_trap(const Expr& value) {
  return any_of_expr(value, [](const Expr& part) {
    const bool division =
        part.is(ExprKind::Div) || part.is(ExprKind::FloorDiv) || part.is(ExprKind::FloorMod);
    int64_t divisor = 0;
    return division && !part.dtype().is_float() && !as_const_int(part.arg(1), &divisor);
  });
}

/// A guard "sum <= limit" that admits some iteration of the tile for all values of the outer loops, and whose
/// sum takes all values from its minimum on.
struct Bound {
  LinearForm sum;
  int64_t limit = 0;
  std::vector<Var> tile;  // the sum's variables that belong to the tile
};

/// Is the term non-decreasing in the variable?
bool rises_with(const Var& var, const LinearForm::Term& term, const Analyzer& analyzer) {
  if (!uses_var(term.atom, var)) return true;
  if (term.coefficient < 0) return false;
  if (term.atom.is(ExprKind::Var)) return true;
  if (!term.atom.is(ExprKind::FloorDiv)) return false;
  const LinearForm divided = analyzer.linear(term.atom.arg(0));
  return divided.coefficient_of(var) > 0 && !hides(divided, var);
}

/// The maximum of `sum`. A sum that a parameter bounds is largest in the last iterations of the outer loops,
/// whose ends the parameter determines (bound_tiles).
int64_t most_of(Expr sum, const Store& store, const Analyzer& analyzer) {
  const int64_t most = analyzer.bounds(sum).max;
  if (!uses_parameter(sum)) return most;
  for (const Stmt* at = store.parent; at != nullptr; at = at->parent) {
    const Loop* loop = at->as<Loop>();
    if (loop == nullptr || !uses_parameter(loop->extent)) continue;
    const LinearForm form = analyzer.linear(sum);
    if (!std::ranges::all_of(form.terms,
                             [&](const auto& term) { return rises_with(loop->var, term, analyzer); }))
      return most;
    sum = analyzer.simplify(substitute(sum, {{loop->var, loop->min + loop->extent - 1}}));
  }
  return std::min(most, analyzer.bounds(sum).max);
}

std::optional<Bound> bound_of(const Expr& guard, const std::vector<const Loop*>& tile, const Store& store,
                              const Analyzer& analyzer) {
  const std::optional<LinearForm> slack = slack_of(guard, analyzer);
  if (!slack) return std::nullopt;
  Bound bound{*slack, slack->constant, {}};
  bound.sum.constant = 0;
  for (LinearForm::Term& term : bound.sum.terms) term.coefficient = -term.coefficient;
  std::vector<std::pair<int64_t, int64_t>> steps;  // step and last index of each of the tile's loops
  LinearForm outside = bound.sum;
  int64_t least = 0;
  for (const Loop* loop : tile) {
    int64_t extent = 0;
    if (!as_const_int(loop->extent, &extent)) continue;  // a varying extent: outside of the tile
    const int64_t step = take_term(outside, loop->var);
    if (step == 0) continue;
    steps.emplace_back(std::abs(step), extent - 1);
    least += std::min<int64_t>(step * (extent - 1), 0);
    bound.tile.push_back(loop->var);
  }
  if (bound.tile.empty() || uses_any(outside.to_expr(), bound.tile)) return std::nullopt;
  if (most_of(outside.to_expr(), store, analyzer) + least > bound.limit) return std::nullopt;
  std::sort(steps.begin(), steps.end());
  int64_t reached = 0;
  for (const auto& [step, number] : steps) {
    if (step > reached + 1) return std::nullopt;
    reached += step * number;
  }
  return bound;
}

/// Replaces indices that `bound` excludes by that of the last admitted iteration. Nothing if the index
/// distinguishes the tile's iterations in another way.
std::optional<Expr> admitted(const Expr& index, const Bound& bound, const Analyzer& analyzer) {
  if (!uses_any(index, bound.tile)) return index;
  const Var& first = bound.tile.front();
  const LinearForm form = analyzer.linear(index);
  const int64_t unit = bound.sum.coefficient_of(first);
  if (form.coefficient_of(first) % unit != 0) return std::nullopt;
  const int64_t factor = form.coefficient_of(first) / unit;
  const Expr sum = bound.sum.to_expr();
  const Expr rest = analyzer.simplify(index - sum * factor);
  if (uses_any(rest, bound.tile)) return std::nullopt;
  return min(sum, bound.limit) * factor + rest;
}

/// A load without `guard`: where it does not hold, the load repeats that of the last admitted iteration, or
/// is masked; the result is discarded.
Expr unguarded(const LoadNode& access, const Store& store, const Expr& guard,
               const std::optional<Bound>& bound, const Analyzer& analyzer) {
  const Expr masked = load(access.buffer, {access.indices().begin(), access.indices().end()},
                           conjunction(access.mask(), guard));
  if (access.buffer == store.buffer || access.mask() || !bound) return masked;
  std::vector<Expr> indices;
  for (const Expr& index : access.indices()) {
    const auto repeated = admitted(index, *bound, analyzer);
    if (!repeated) return masked;
    indices.push_back(*repeated);
  }
  return load(access.buffer, std::move(indices));
}

/// Removes from the tree the parts of guards that are invariant during the reduction; the others stay.
std::vector<Expr> take_guards(const Surroundings& around, const Analyzer& analyzer, std::vector<Expr>& left) {
  std::vector<Expr> taken;
  for (If* guard : around.guards) {
    Expr kept;
    for (const Expr& whole : conjuncts(guard->condition)) {
      // The lanes of whole vectors often cancel out: 48*j + 16*v + lane < 512 does not depend on the lane.
      const Expr part = analyzer.simplify(whole);
      if (is_const_int(part, 1)) continue;
      const bool stays = uses_any(part, around.reduced) || uses_any(part, around.vectorized);
      if (stays) kept = conjunction(kept, part);
      (stays ? left : taken).push_back(part);
    }
    if (kept) {
      guard->condition = kept;
    } else {
      unwrap(*guard);
    }
  }
  return taken;
}

/// Does nothing else depend on the iteration within the bound, so that one can replace another?
bool stands_alone(const Bound& bound, const Expr& guard, const std::vector<Expr>& conditions,
                  const Expr& value) {
  const bool alone = std::all_of(conditions.begin(), conditions.end(), [&](const Expr& other) {
    return other.same_as(guard) || !uses_any(other, bound.tile);
  });
  return alone && !any_of_expr(value, [&](const Expr& part) {
           return part.is(ExprKind::Select) && uses_any(part.arg(0), bound.tile);
         });
}

void run_store(Store& store) {
  const Surroundings around = surroundings_of(store);
  if (around.guards.empty() || around.reduced.empty()) return;
  const Analyzer analyzer = Analyzer::at(store);
  std::vector<Expr> conditions;
  const std::vector<Expr> guards = take_guards(around, analyzer, conditions);
  conditions.insert(conditions.end(), guards.begin(), guards.end());
  for (const Expr& guard : guards) {
    std::optional<Bound> bound = bound_of(guard, around.tile, store, analyzer);
    if (bound && !stands_alone(*bound, guard, conditions, store.value)) bound.reset();
    store.value = rewrite_expr(store.value, [&](const Expr& part) -> Expr {
      const LoadNode* access = part.as<LoadNode>();
      return access != nullptr ? unguarded(*access, store, guard, bound, analyzer) : part;
    });
    store.mask = conjunction(store.mask, guard);
  }
}

}  // namespace

void mask_accumulations(Program& program) {
  const auto accumulates = [](const Store& store) {
    return loads_from(store.value, store.buffer) && !may_trap(store.value);
  };
  for (Store* store : collect<Store>(program.root(), accumulates)) run_store(*store);
}

}  // namespace tunesmith
