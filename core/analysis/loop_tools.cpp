#include "analysis/loop_tools.h"

#include <algorithm>

#include <fmt/format.h>

#include "tunesmith/affine/simplify.h"
#include "tunesmith/analysis/schedule_error.h"

namespace tunesmith {

void throw_refusal(std::string_view primitive, const Program& program,
                   const std::optional<Refusal>& refusal) {
  if (refusal.has_value()) {
    throw ScheduleError(primitive, refusal->reason, refusal->detail, program, refusal->place);
  }
}

void require_plain_loop(const Program& program, const Loop& loop, std::string_view primitive) {
  int64_t extent = 0;
  if (!is_const_int(loop.min, 0) || !as_const_int(loop.extent, &extent)) {
    throw ScheduleError(primitive, "the loop's range is not constant from 0", "", program, &loop);
  }
  if (loop.loop_kind != LoopKind::Serial) {
    throw ScheduleError(primitive, "the loop is not serial",
                        fmt::format("{} is {}", loop.var->name, loop_kind_name(loop.loop_kind)), program,
                        &loop);
  }
  if (!loop.annotations.empty()) {
    throw ScheduleError(primitive, "the loop has annotations",
                        fmt::format("unannotate '{}' first", loop.annotations.begin()->first), program,
                        &loop);
  }
}

void replace_loop_var(Stmt& stmt, const Var& var, const Expr& index, const Expr& predicate) {
  const Substitution map{{var, index}};
  for_each_outer_block(stmt, [&](Block& block) {
    std::optional<Analyzer> analyzer;
    const auto replace_in = [&](Expr& expr) {
      if (!uses_var(expr, var)) return;
      if (!analyzer.has_value()) analyzer = Analyzer::at(block);
      expr = analyzer->simplify(substitute(expr, map));
    };
    for (Expr& binding : block.bindings) replace_in(binding);
    replace_in(block.predicate);
    if (predicate) block.predicate = logical_and(block.predicate, predicate);
  });
}

std::vector<int64_t> iter_extents(const Block& block) {
  std::vector<int64_t> extents;
  for (const IterVar& iter : block.iters) extents.push_back(iter.extent);
  return extents;
}

std::vector<IterDomain> domains_below(const Block& block, const Loop& outermost) {
  std::vector<IterDomain> domains;
  bool below = false;
  for (const Loop* loop : loops_above(block)) {
    below = below || loop == &outermost;
    if (below) domains.push_back({loop->var, loop->const_extent()});
  }
  return domains;
}

std::optional<std::vector<Expr>> inner_bindings(const Block& block, const Loop& outermost) {
  std::vector<Var> outer;
  for (const Loop* loop : loops_above(block)) {
    if (loop == &outermost) break;
    outer.push_back(loop->var);
  }
  if (outer.empty()) return block.bindings;
  const auto is_outer = [&](const Var& var) {
    return std::find(outer.begin(), outer.end(), var) != outer.end();
  };

  const Analyzer analyzer = Analyzer::at(block);
  std::vector<Expr> inner;
  for (const Expr& binding : block.bindings) {
    LinearForm form = analyzer.linear(binding);
    bool mixed = false;
    std::erase_if(form.terms, [&](const LinearForm::Term& term) {
      const std::vector<Var> vars = vars_of(term.atom);
      const auto outer_vars = std::count_if(vars.begin(), vars.end(), is_outer);
      mixed = mixed || (outer_vars > 0 && outer_vars < static_cast<int64_t>(vars.size()));
      return outer_vars > 0;
    });
    if (mixed) return std::nullopt;
    inner.push_back(form.to_expr());
  }
  return inner;
}

std::vector<Expr> conjuncts(const Expr& predicate) {
  if (!predicate.is(ExprKind::And)) {
    return is_const_int(predicate, 1) ? std::vector<Expr>{} : std::vector<Expr>{predicate};
  }
  std::vector<Expr> terms = conjuncts(predicate.arg(0));
  for (Expr& term : conjuncts(predicate.arg(1))) terms.push_back(std::move(term));
  return terms;
}

Expr inner_predicate(const Block& block, const Loop& outermost) {
  Expr inner = bool_imm(true);
  for (const Expr& term : conjuncts(block.predicate)) {
    const std::vector<Var> vars = vars_of(term);
    bool outside = false;
    for (const Loop* loop : loops_above(block)) {
      if (loop == &outermost) break;
      outside = outside || std::find(vars.begin(), vars.end(), loop->var) != vars.end();
    }
    if (!outside) inner = logical_and(inner, term);
  }
  return inner;
}

}  // namespace tunesmith
