// Replaces guards over a program's parameters by loop ranges and a choice per tile: work is proportional to
// the extents, and whole tiles run the code of a program with fixed extents.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "tunesmith/affine/linear_form.h"
#include "tunesmith/affine/simplify.h"
#include "tunesmith/ir/extents.h"
#include "tunesmith/ir/fresh_copy.h"
#include "tunesmith/ir/tree_surgery.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/lower/passes.h"

namespace tunesmith {
namespace {

bool reads_none(const Expr& expr) {
  return !any_of_expr(expr, [](const Expr& part) { return part.is(ExprKind::Load); });
}

/// The condition's slack, which must be at least 0. Nothing if the condition does not bound by a parameter.
std::optional<LinearForm> parametric_slack(const Expr& condition, const If& branch) {
  if (!uses_parameter(condition) || !reads_none(condition)) return std::nullopt;
  return slack_of(condition, Analyzer::at(branch));
}

enum class Iterations { Some, All };

/// The condition outside the loop for `slack` to hold in some, or in all, of the loop's iterations. Nothing
/// if it is not linear.
std::optional<LinearForm> outside_of(LinearForm slack, const Loop& loop, Iterations wanted) {
  if (hides(slack, loop.var)) return std::nullopt;
  const int64_t c = take_term(slack, loop.var);
  if (c == 0) return slack;
  const bool last = (c > 0) == (wanted == Iterations::Some);
  const Expr at = last ? loop.min + loop.extent - 1 : loop.min;
  return Analyzer::at(loop).linear(slack.to_expr() + at * c);
}

bool same_form(const LinearForm& a, const LinearForm& b) { return equal(a.to_expr(), b.to_expr()); }

bool has_form(const std::vector<LinearForm>& forms, const LinearForm& wanted) {
  return std::ranges::any_of(forms, [&](const LinearForm& form) { return same_form(form, wanted); });
}

/// Conditions without which a statement has no effect outside `around`.
struct Needs {
  bool idle = false;  // it never has an effect
  std::vector<LinearForm> slacks;
  Substitution at;  // required values of variables, as in the first step of a reduction
};

bool implies(const Needs& needs, const LinearForm& slack) {
  return has_form(needs.slacks, slack) ||
         (!needs.at.empty() && Analyzer().bounds(substitute(slack.to_expr(), needs.at)).min >= 0);
}

/// The common conditions: without them neither of the two has an effect.
Needs either(const Needs& a, const Needs& b) {
  if (a.idle || b.idle) return a.idle ? b : a;
  Needs both;
  for (const auto& [one, other] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    for (const LinearForm& slack : one->slacks) {
      if (implies(*other, slack) && !has_form(both.slacks, slack)) both.slacks.push_back(slack);
    }
  }
  return both;
}

Needs needs_of(const Stmt& stmt, const Stmt& around);

/// The conditions without which no child of `stmt` has an effect.
Needs needs_of_any(const Stmt& stmt, const Stmt& around) {
  Needs all{true, {}, {}};
  visit_children(stmt, [&](const Stmt& child) { all = either(all, needs_of(child, around)); });
  return all;
}

bool allocated_in(const Stmt& stmt, const Buffer& buffer, const Stmt& around) {
  for (const Stmt* at = stmt.parent; at != &around; at = at->parent) {
    const Allocate* allocate = at->as<Allocate>();
    if (allocate != nullptr && allocate->buffer == buffer) return true;
  }
  return false;
}

Needs needs_of(const Stmt& stmt, const Stmt& around) {
  switch (stmt.kind) {
    case StmtKind::Store:
      return {allocated_in(stmt, static_cast<const Store&>(stmt).buffer, around), {}, {}};
    case StmtKind::Seq:
    case StmtKind::Allocate:
      return needs_of_any(stmt, around);
    case StmtKind::If: {
      const auto& branch = static_cast<const If&>(stmt);
      Needs needs = needs_of_any(branch, around);
      if (branch.else_case() != nullptr) return needs;
      for (const Expr& part : conjuncts(branch.condition)) {
        if (auto slack = parametric_slack(part, branch)) needs.slacks.push_back(std::move(*slack));
        if (part.is(ExprKind::Eq) && part.arg(0).is(ExprKind::Var) && part.arg(1).is(ExprKind::IntImm))
          needs.at.set(Var::from(part.arg(0)), part.arg(1));
      }
      return needs;
    }
    case StmtKind::Loop: {
      const auto& loop = static_cast<const Loop&>(stmt);
      const Needs inner = needs_of(*loop.body(), around);
      Needs needs{inner.idle, {}, inner.at};
      for (const LinearForm& slack : inner.slacks) {
        if (auto outer = outside_of(slack, loop, Iterations::Some)) needs.slacks.push_back(std::move(*outer));
      }
      return needs;
    }
    default:
      return {};
  }
}

/// The end of the values of `var` for which `slack` holds. Nothing if there is none, or it is unknown.
std::optional<Expr> end_of(LinearForm slack, const Var& var, const Analyzer& analyzer) {
  if (!hides(slack, var)) {
    const int64_t c = take_term(slack, var);
    if (c >= 0) return std::nullopt;
    return floordiv(slack.to_expr(), -c) + 1;
  }
  // c * (x // d) + rest >= 0 with c < 0 is x < d * (rest // -c + 1).
  if (take_term(slack, var) != 0) return std::nullopt;
  const auto moves = [&](const LinearForm::Term& term) { return uses_var(term.atom, var); };
  const auto moving = std::ranges::find_if(slack.terms, moves);
  LinearForm::Term term = std::move(*moving);
  slack.terms.erase(moving);
  int64_t divisor = 0;
  if (std::ranges::any_of(slack.terms, moves) || term.coefficient >= 0 || !term.atom.is(ExprKind::FloorDiv) ||
      !as_const_int(term.atom.arg(1), &divisor))
    return std::nullopt;
  const Expr quotients = floordiv(slack.to_expr(), -term.coefficient) + 1;
  return end_of(analyzer.linear(quotients * divisor - term.atom.arg(0) - 1), var, analyzer);
}

bool runs_one_by_one(const Loop& loop) {
  return loop.loop_kind == LoopKind::Serial || loop.loop_kind == LoopKind::Parallel;
}

/// Tightens the loop's range; returns the slacks that the range now guarantees.
std::vector<LinearForm> tighten(Loop& loop) {
  std::vector<LinearForm> taken;
  const Needs needs = needs_of(*loop.body(), loop);
  if (needs.idle) return taken;
  const Analyzer outside = Analyzer::at(loop);
  for (const LinearForm& slack : needs.slacks) {
    const std::optional<Expr> end = end_of(slack, loop.var, outside);
    if (!end.has_value()) continue;
    const Expr extent = outside.simplify(min(loop.extent, *end - loop.min));
    // A parallel loop must not have a negative number of iterations.
    if (loop.loop_kind == LoopKind::Parallel && outside.bounds(extent).min < 0) continue;
    loop.extent = extent;
    taken.push_back(slack);
  }
  return taken;
}

/// A branch's condition in a tile, and the condition under which it holds for the whole tile.
struct InTile {
  size_t branch = 0;  // its index in text order
  Expr condition;
  LinearForm whole;
};

/// The loops that a tile may contain: unrolled and vectorized ones only, or also serial ones, which could be
/// bounded.
enum class Tile { Written, Any };

/// The condition under which `condition` holds in the whole tile that `loop` runs over: `loop` is the
/// innermost loop outside of the tile.
std::optional<LinearForm> of_whole_tile(const Expr& condition, const If& branch, const Loop& loop,
                                        Tile tile) {
  std::optional<LinearForm> slack = parametric_slack(condition, branch);
  for (const Stmt* at = branch.parent; at != &loop && slack.has_value(); at = at->parent) {
    const Loop* inner = at->as<Loop>();
    if (inner == nullptr) continue;
    const bool moves = uses_var(condition, inner->var);
    if (moves && tile == Tile::Written && runs_one_by_one(*inner)) return std::nullopt;
    if (moves) slack = outside_of(*slack, *inner, Iterations::All);
  }
  if (slack.has_value() && !uses_var(slack->to_expr(), loop.var)) return std::nullopt;
  return slack;
}

std::vector<InTile> conditions_in(const Loop& loop, Tile tile) {
  std::vector<InTile> found;
  const std::vector<const If*> branches = collect<If>(loop);
  for (size_t i = 0; i < branches.size(); ++i) {
    if (branches[i]->else_case() != nullptr) continue;
    for (const Expr& part : conjuncts(branches[i]->condition)) {
      if (auto whole = of_whole_tile(part, *branches[i], loop, tile))
        found.push_back({i, part, std::move(*whole)});
    }
  }
  return found;
}

void drop(If& branch, const Expr& condition) {
  Expr rest = bool_imm(true);
  for (const Expr& part : conjuncts(branch.condition)) {
    if (!equal(part, condition)) rest = logical_and(rest, part);
  }
  branch.condition = rest;
}

/// Drops inner branches first, before their parents disappear. `fresh`: the variables that replace those of
/// the conditions here.
void drop_all(Stmt& root, const std::vector<InTile>& conditions, const Substitution& fresh = {}) {
  const std::vector<If*> branches = collect<If>(root);
  for (const InTile& one : conditions) drop(*branches[one.branch], substitute(one.condition, fresh));
  for (size_t i = branches.size(); i-- > 0;) {
    if (is_const_int(branches[i]->condition, 1) && branches[i]->else_case() == nullptr) unwrap(*branches[i]);
  }
}

/// Drops conditions that the loop's range guarantees; each iteration tests once whether its tile is whole.
void choose_whole_tiles(Program& program, Loop& loop, const std::vector<LinearForm>& taken) {
  std::vector<InTile> known;
  std::vector<InTile> chosen;
  for (InTile& one : conditions_in(loop, Tile::Written)) {
    const Expr slack = one.whole.to_expr();
    const bool stands = std::ranges::none_of(vars_of(one.condition), [&](const Var& var) {
      return !(var == loop.var) &&
             find_first<Loop>(loop, [&](const Loop& inner) { return &inner != &loop && inner.var == var; });
    });
    if (stands && has_form(taken, one.whole)) {
      known.push_back(std::move(one));
    } else if (!stands) {
      chosen.push_back(std::move(one));
    }
  }
  if (chosen.empty()) return drop_all(loop, known);

  Expr whole = bool_imm(true);
  std::vector<LinearForm> asked;
  for (const InTile& one : chosen) {
    if (has_form(asked, one.whole)) continue;
    asked.push_back(one.whole);
    whole = logical_and(whole, le(0, one.whole.to_expr()));
  }
  drop_all(loop, known);
  chosen = conditions_in(loop, Tile::Any);
  std::erase_if(chosen, [&](const InTile& one) { return !has_form(asked, one.whole); });
  StmtPtr part = loop.take_body();
  Substitution fresh;
  loop.set_body(std::make_unique<If>(whole, std::make_unique<Seq>(), std::make_unique<Seq>()));
  If& choice = *loop.body()->as<If>();
  replace(*choice.else_case(), std::move(part));
  replace(*choice.then_case(), fresh_copy(program, *choice.else_case(), &fresh));
  drop_all(*choice.then_case(), chosen, fresh);
}

/// Guards pieces of a partitioned loop that may be empty: none of their loops could end before them.
void skip_pieces(Seq& seq) {
  std::vector<Stmt*> pieces;
  for (const StmtPtr& child : seq.children()) pieces.push_back(child.get());
  for (Stmt* piece : pieces) {
    if (piece->kind != StmtKind::Loop && piece->kind != StmtKind::Allocate) continue;
    const Needs needs = needs_of(*piece, seq);
    Expr something = bool_imm(!needs.idle);
    for (const LinearForm& slack : needs.slacks) {
      const Expr least = slack.to_expr();
      const bool stands =
          std::ranges::all_of(vars_of(least), [](const Var& var) { return var->is_parameter(); });
      if (stands) something = logical_and(something, Analyzer().simplify(le(0, least)));
    }
    if (needs.idle || is_const_int(something, 1)) continue;
    auto guard = std::make_unique<If>(something, std::make_unique<Seq>());
    If& around = *guard;
    around.set_then(replace(*piece, std::move(guard)));
  }
}

void bound_in(Program& program, Stmt& stmt) {
  if (Seq* seq = stmt.as<Seq>()) skip_pieces(*seq);
  if (Loop* loop = stmt.as<Loop>(); loop != nullptr && runs_one_by_one(*loop))
    choose_whole_tiles(program, *loop, tighten(*loop));
  std::vector<Stmt*> children;
  visit_children(stmt, [&](Stmt& child) { children.push_back(&child); });
  for (Stmt* child : children) bound_in(program, *child);
}

}  // namespace

void bound_tiles(Program& program) {
  if (!program.parameters.empty()) bound_in(program, program.root());
}

}  // namespace tunesmith
