#include "analysis/loop_tools.h"

#include <algorithm>

#include <fmt/format.h>

#include "tunesmith/affine/linear_form.h"
#include "tunesmith/analysis/schedule_error.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/support/contains.h"

namespace tunesmith {
namespace {

/// The variables of the loops around `block` that are outside of `outermost`.
std::vector<Var> vars_outside(const Block& block, const Loop& outermost) {
  std::vector<Var> outer;
  for (const Loop* loop : loops_above(block)) {
    if (loop == &outermost) break;
    outer.push_back(loop->var);
  }
  return outer;
}

}  // namespace

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

bool has_opaque_iter(const Block& block) { return opaque_refusal(block, "").has_value(); }

std::optional<Refusal> opaque_refusal(const Block& block, std::string_view reason) {
  for (const IterVar& iter : block.iters) {
    if (iter.kind == IterKind::Opaque)
      return Refusal{reason, fmt::format("'{}' of {}", iter.var->name, block.name), &block};
  }
  return std::nullopt;
}

std::optional<Refusal> plain_nest_refusal(const Block& block, std::vector<Loop*>* own) {
  const std::vector<Loop*> around = loops_above(block);
  for (size_t i = 0; i < block.iters.size(); ++i) {
    const IterVar& iter = block.iters[i];
    const auto found = std::find_if(around.begin(), around.end(), [&](Loop* loop) {
      return block.bindings[i].same_as(loop->var) && loop->const_extent() == iter.extent &&
             !contains(*own, loop);
    });
    if (found == around.end() && (iter.extent != 1 || !is_const_int(block.bindings[i], 0)))
      return Refusal{"an iterator of the block is not a single loop", iter.var->name, &block};
    own->push_back(found == around.end() ? nullptr : *found);
  }
  for (const Stmt* at = block.parent; at != nullptr && at->kind != StmtKind::Block; at = at->parent) {
    const bool outermost = at->parent == nullptr || at->parent->kind == StmtKind::Block;
    if (at->kind != StmtKind::Loop && !outermost)
      return Refusal{"the block's loop nest contains other statements", block.name, &block};
  }
  if (!is_const_int(block.predicate, 1)) return Refusal{"the block has a condition", block.name, &block};
  return std::nullopt;
}

void replace_iters(Block& block, const Substitution& values) {
  Analyzer analyzer;
  analyzer.bind(block);
  for (Stmt* part : {block.init(), block.body()}) {
    if (part == nullptr) continue;
    walk(*part, [&](Stmt& stmt) {
      visit_exprs(stmt, [&](Expr& expr) { expr = analyzer.simplify(substitute(expr, values)); });
    });
  }
}

bool holds_blocks(const Block& block) {
  return find_first<Block>(block, [&](const Block& other) { return &other != &block; }) != nullptr;
}

std::vector<IterDomain> iter_domains(const Block& block) {
  std::vector<IterDomain> domains;
  for (const IterVar& iter : block.iters) domains.push_back({iter.var, iter.extent});
  return domains;
}

std::vector<int64_t> iter_extents(std::span<const IterVar> iters) {
  std::vector<int64_t> extents;
  for (const IterVar& iter : iters) extents.push_back(iter.extent);
  return extents;
}

std::vector<IterDomain> domains_of(std::span<Loop* const> loops) {
  std::vector<IterDomain> domains;
  domains.reserve(loops.size());
  for (const Loop* loop : loops) domains.push_back({loop->var, loop->const_extent()});
  return domains;
}

std::vector<IterDomain> used_domains(std::span<const IterDomain> domains, std::span<const Expr> bindings,
                                     const Expr& predicate) {
  std::vector<IterDomain> used(domains.begin(), domains.end());
  std::erase_if(used, [&](const IterDomain& domain) {
    const auto uses = [&](const Expr& expr) { return uses_var(expr, domain.var); };
    return std::none_of(bindings.begin(), bindings.end(), uses) && !(predicate && uses(predicate));
  });
  return used;
}

std::vector<IterDomain> domains_below(const Block& block, const Loop& outermost) {
  const std::vector<Loop*> loops = loops_above(block);
  const auto first = std::find(loops.begin(), loops.end(), &outermost);
  return domains_of({first, loops.end()});
}

std::optional<std::vector<Expr>> inner_bindings(const Block& block, const Loop& outermost) {
  const std::vector<Var> outer = vars_outside(block, outermost);
  if (outer.empty()) return block.bindings;
  const Analyzer analyzer = Analyzer::at(block);
  std::vector<Expr> inner;
  for (const Expr& binding : block.bindings) {
    if (!uses_any(binding, outer)) {
      inner.push_back(binding);
      continue;
    }
    const LinearParts parts = parts_of(analyzer.linear(binding), outer);
    if (!parts.mixed.empty()) return std::nullopt;
    inner.push_back(parts.standing.to_expr());
  }
  return inner;
}

Expr inner_predicate(const Block& block, const Loop& outermost) {
  if (is_const_int(block.predicate, 1)) return block.predicate;
  const std::vector<Var> outer = vars_outside(block, outermost);
  Expr inner = bool_imm(true);
  for (const Expr& term : conjuncts(block.predicate)) {
    if (!uses_any(term, outer)) inner = logical_and(inner, term);
  }
  return inner;
}

}  // namespace tunesmith
