#include <algorithm>

#include <fmt/format.h>

#include "analysis/loop_tools.h"
#include "primitives/primitives.h"
#include "trace/kind_builder.h"
#include "tunesmith/affine/linear_form.h"
#include "tunesmith/affine/simplify.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith {
namespace {

/// The division of the block's iterators between the outer block and a tile.
struct Division {
  Block* block = nullptr;
  std::vector<Loop*> loops;  // the tile's loops
  std::vector<Var> loop_vars;
  std::vector<IterVar> outer;
  std::vector<Expr> outer_bindings;
  std::vector<IterVar> inner;
  std::vector<Expr> inner_bindings;
  Substitution iters;  // maps old iterators to new ones
};

bool divides(int64_t tile, const LinearForm& form) {
  return form.constant % tile == 0 && std::all_of(form.terms.begin(), form.terms.end(),
                                                  [&](const auto& t) { return t.coefficient % tile == 0; });
}

std::optional<Refusal> divide_iterator(const IterVar& iter, const Expr& binding, const Analyzer& analyzer,
                                       Division* plan) {
  const Block& block = *plan->block;
  LinearParts parts = parts_of(analyzer.linear(binding), plan->loop_vars);
  if (!parts.mixed.empty())
    return Refusal{"an iterator binds loops inside and outside in one term", iter.var->name, &block};
  const Var whole(iter.var->name + "_o");
  if (parts.moving.terms.empty()) {
    if (iter.extent > 1 || iter.kind == IterKind::Spatial) {
      plan->outer.push_back({whole, iter.extent, iter.kind});
      // Omits inner loops of one iteration.
      plan->outer_bindings.push_back(parts.standing.to_expr());
      plan->iters.set(iter.var, whole);
      return std::nullopt;
    }
    // A one-step reduction stays in the outer block, with its init, if any.
    const Var var(iter.var->name);
    plan->inner.push_back({var, 1, iter.kind});
    plan->inner_bindings.emplace_back(0);
    plan->iters.set(iter.var, var);
    return std::nullopt;
  }
  const Interval span = analyzer.bounds(parts.moving.to_expr());
  parts.moving.constant = -span.min;
  parts.standing.constant += span.min;
  const int64_t tile = span.max - span.min + 1;
  if (!span.bounded() || iter.extent % tile != 0 || !divides(tile, parts.standing))
    return Refusal{"the inner loops are not a tile of an iterator", iter.var->name, &block};
  const Var var(iter.var->name);
  plan->inner.push_back({var, tile, iter.kind});
  plan->inner_bindings.push_back(parts.moving.to_expr());
  if (iter.extent == tile) {
    plan->iters.set(iter.var, var);
    return std::nullopt;
  }
  plan->outer.push_back({whole, iter.extent / tile, iter.kind});
  for (LinearForm::Term& term : parts.standing.terms) term.coefficient /= tile;
  parts.standing.constant /= tile;
  plan->outer_bindings.push_back(parts.standing.to_expr());
  plan->iters.set(iter.var, Expr(whole) * tile + var);
  return std::nullopt;
}

std::optional<Refusal> plan_refusal(Loop& loop, Division* plan) {
  Stmt* inner = &loop;
  while (Loop* at = inner->as<Loop>()) {
    plan->loops.push_back(at);
    plan->loop_vars.push_back(at->var);
    inner = at->body();
  }
  plan->block = inner->as<Block>();
  if (plan->block == nullptr) return Refusal{"the loop holds more than one block", loop.var->name, &loop};
  Block& block = *plan->block;
  for (const Expr& condition : conjuncts(block.predicate)) {
    if (uses_any(condition, plan->loop_vars))
      return Refusal{"a condition of the block uses the loops inside", block.name, &block};
  }
  if (auto refusal = opaque_refusal(block, "the block has an opaque iterator")) return refusal;
  const Analyzer analyzer = Analyzer::at(block);
  for (size_t i = 0; i < block.iters.size(); ++i) {
    if (auto refusal = divide_iterator(block.iters[i], block.bindings[i], analyzer, plan)) return refusal;
  }
  const bool reduces_outside = std::any_of(plan->outer.begin(), plan->outer.end(), [](const IterVar& iter) {
    return iter.kind == IterKind::Reduction;
  });
  if (reduces_outside && block.init() != nullptr)
    return Refusal{"the block initializes itself and the reduction continues outside", block.name, &block};
  if (!check_iter_map(plan->inner_bindings, iter_extents(plan->inner), domains_of(plan->loops),
                      bool_imm(true))
           .bijective)
    return Refusal{"the loops inside do not run over each element of a tile once", block.name, &block};
  return std::nullopt;
}

/// Indices of loads may be expressions of any data type.
Expr with_simple_loads(const Expr& value, const Analyzer& analyzer) {
  return rewrite_expr(value, [&](const Expr& part) {
    const LoadNode* old = part.as<LoadNode>();
    if (old == nullptr) return part;
    std::vector<Expr> indices;
    for (const Expr& index : old->indices()) indices.push_back(analyzer.simplify(index));
    return load(old->buffer, std::move(indices), old->mask());
  });
}

void simplify_accesses(Block& block) {
  for (Store* store : collect<Store>(block)) {
    const Analyzer analyzer = Analyzer::at(*store);
    for (Expr& index : store->indices) index = analyzer.simplify(index);
    store->value = with_simple_loads(store->value, analyzer);
  }
}

}  // namespace

BlockId blockize(Program& program, LoopId loop_id) {
  Loop& loop = loop_at(program, loop_id, "blockize");
  Division plan;
  throw_refusal("blockize", program, plan_refusal(loop, &plan));

  Block& block = *plan.block;
  std::unique_ptr<Block> made =
      program.make_block(block.name + "_o", std::move(plan.outer), std::move(plan.outer_bindings), nullptr,
                         std::make_unique<Seq>());
  made->predicate = block.predicate;
  Block& outer = *made;
  StmtPtr nest = replace(loop, std::move(made));
  outer.set_body(std::move(nest));
  block.predicate = bool_imm(true);
  block.iters = std::move(plan.inner);
  block.bindings = std::move(plan.inner_bindings);
  if (block.init() != nullptr) substitute_in(*block.init(), plan.iters);
  substitute_in(*block.body(), plan.iters);
  simplify_accesses(block);
  return outer.id;
}

KindPtr blockize_kind() { return make_transformation("blockize", blockize, {"loop"}); }

BlockRV Schedule::blockize(LoopRV loop) { return as_handle<BlockRV>(execute(kind("blockize"), {loop})); }

}  // namespace tunesmith
