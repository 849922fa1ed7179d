#include <algorithm>

#include <fmt/format.h>

#include "analysis/buffer_uses.h"
#include "analysis/loop_tools.h"
#include "primitives/primitives.h"
#include "trace/kind_builder.h"
#include "tunesmith/analysis/blocks.h"
#include "tunesmith/ir/extents.h"
#include "tunesmith/ir/regions.h"
#include "tunesmith/ir/tree_surgery.h"
#include "tunesmith/support/contains.h"

namespace tunesmith {
namespace {

struct Factoring {
  Loop* factored = nullptr;
  Block* block = nullptr;
  ReductionPattern pattern;
  size_t axis = 0;               // position of the factored loop in the new buffer
  std::vector<Loop*> chain;      // each loop is the only child of the previous one, down to the block
  std::vector<Loop*> reducing;   // the loops of the chain that belong to the reduction
  std::vector<Expr> of_spatial;  // conjuncts of the block's predicate over spatial iterators
  std::vector<Expr> of_reduction;
};

std::optional<Refusal> chain_refusal(Factoring* plan) {
  Stmt* inner = plan->factored;
  while (Loop* loop = inner->as<Loop>()) inner = loop->body();
  plan->block = inner->as<Block>();
  if (plan->block == nullptr)
    return Refusal{"the loop holds more than one block", plan->factored->var->name, plan->factored};
  for (Stmt* at = plan->block->parent; at != nullptr && at->kind == StmtKind::Loop; at = at->parent)
    plan->chain.insert(plan->chain.begin(), at->as<Loop>());
  return std::nullopt;
}

std::optional<Refusal> loops_refusal(Factoring* plan) {
  const Block& block = *plan->block;
  for (Loop* loop : loops_above(block)) {
    const LoopUse use = use_of(*loop, block);
    if (!use.reduction) continue;
    if (use.spatial) return Refusal{"a loop carries spatial and reduction iterators", loop->var->name, loop};
    if (!contains(plan->chain, loop))
      return Refusal{"a loop that holds other statements carries the reduction", loop->var->name, loop};
    plan->reducing.push_back(loop);
  }
  if (!contains(plan->reducing, plan->factored))
    return Refusal{"the loop does not carry the reduction", plan->factored->var->name, plan->factored};
  if (!runs_once(block, *plan->chain.front()))
    return Refusal{"an instance of the block may run more than once", block.name, &block};
  for (const Expr& condition : conjuncts(block.predicate)) {
    size_t reducing = 0;
    const std::vector<Var> vars = vars_of(condition);
    for (const Var& var : vars) {
      reducing += std::any_of(plan->reducing.begin(), plan->reducing.end(),
                              [&](const Loop* loop) { return loop->var == var; })
                      ? 1
                      : 0;
    }
    if (reducing != 0 && reducing != vars.size())
      return Refusal{"a condition of the block binds spatial and reduction loops together", block.name,
                     &block};
    (reducing == 0 ? plan->of_spatial : plan->of_reduction).push_back(condition);
  }
  return std::nullopt;
}

std::optional<Refusal> plan_refusal(const Program& program, Loop& loop, int64_t axis, Factoring* plan) {
  plan->factored = &loop;
  if (auto refusal = chain_refusal(plan)) return refusal;
  Stage stage;
  if (auto refusal = stage_refusal(program, *plan->block, &stage)) return refusal;
  if (reduces_varying(*plan->block))
    return Refusal{"the steps of the reduction vary", plan->block->name, plan->block};
  if (!match_reduction(*plan->block, &plan->pattern) || plan->pattern.init == nullptr)
    return Refusal{"the block is not a sum, product, minimum or maximum", plan->block->name, plan->block};
  const auto rank = static_cast<int64_t>(stage.buffer->shape.size()) + 1;
  if (axis < -rank || axis >= rank)
    return Refusal{"the new buffer has no such dimension", fmt::format("{} of {}", axis, rank), plan->block};
  plan->axis = static_cast<size_t>(axis < 0 ? axis + rank : axis);
  return loops_refusal(plan);
}

template <typename T>
std::vector<T> with_inserted(std::span<const T> items, size_t position, T item) {
  std::vector<T> result(items.begin(), items.end());
  result.insert(result.begin() + static_cast<std::ptrdiff_t>(position), std::move(item));
  return result;
}

Expr conjunction(std::span<const Expr> parts, const Substitution& map) {
  Expr all = bool_imm(true);
  for (const Expr& part : parts) all = logical_and(all, substitute(part, map));
  return all;
}

/// Computes partial results: the factored loop is spatial, each other reduction loop is a separate iterator.
std::unique_ptr<Block> make_partial(Program& program, const Factoring& plan, const Buffer& partial) {
  const Block& block = *plan.block;
  std::vector<IterVar> iters;
  std::vector<Expr> bindings;
  Substitution map;
  for (size_t i = 0; i < block.iters.size(); ++i) {
    if (block.iters[i].kind == IterKind::Reduction) continue;
    iters.push_back({Var(block.iters[i].var->name), block.iters[i].extent, IterKind::Spatial});
    bindings.push_back(block.bindings[i]);
    map.set(block.iters[i].var, iters.back().var);
  }
  Substitution loops;
  Var factor;
  for (const Loop* loop : plan.reducing) {
    const bool factored = loop == plan.factored;
    const Var var("v" + loop->var->name);
    if (factored) factor = var;
    iters.push_back({var, loop->const_extent(), factored ? IterKind::Spatial : IterKind::Reduction});
    bindings.emplace_back(loop->var);
    loops.set(loop->var, var);
  }
  for (size_t i = 0; i < block.iters.size(); ++i) {
    if (block.iters[i].kind == IterKind::Reduction)
      map.set(block.iters[i].var, substitute(block.bindings[i], loops));
  }

  const std::vector<Expr> indices =
      with_inserted<Expr>(substitute(plan.pattern.update->indices, map), plan.axis, factor);
  const Expr identity = plan.pattern.init->value;
  // Steps beyond the end of an unevenly split reduction must be neutral.
  const Expr term =
      select(conjunction(plan.of_reduction, loops), substitute(plan.pattern.term, map), identity);
  const bool accumulates = plan.reducing.size() > 1;
  StmtPtr init;
  Expr value = term;
  if (accumulates) {
    init = std::make_unique<Store>(partial, indices, identity);
    value = binary(plan.pattern.op, load(partial, indices), term);
  }
  std::unique_ptr<Block> made =
      program.make_block(block.name + "_rf", std::move(iters), std::move(bindings), std::move(init),
                         std::make_unique<Store>(partial, indices, value));
  made->predicate = conjunction(plan.of_spatial, {});
  return made;
}

/// Makes `block`, removed from the tree, combine the partial results under new loops.
StmtPtr make_combining(Program& program, const Factoring& plan, const Buffer& partial, StmtPtr taken) {
  Block& block = *plan.block;
  Substitution fresh;
  std::vector<IterDomain> loops;
  for (const Loop* loop : plan.chain) {
    const auto reduces = std::find(plan.reducing.begin(), plan.reducing.end(), loop);
    if (loop != plan.factored && reduces != plan.reducing.end()) continue;
    loops.push_back({Var(loop->var->name), loop->const_extent()});
    fresh.set(loop->var, loops.back().var);
  }
  std::vector<IterVar> iters;
  std::vector<Expr> bindings;
  for (size_t i = 0; i < block.iters.size(); ++i) {
    if (block.iters[i].kind == IterKind::Reduction) continue;
    iters.push_back(block.iters[i]);
    bindings.push_back(substitute(block.bindings[i], fresh));
  }
  const Var factor("v" + plan.factored->var->name);
  iters.push_back({factor, plan.factored->const_extent(), IterKind::Reduction});
  bindings.push_back(substitute(plan.factored->var, fresh));

  const Store& update = *plan.pattern.update;
  const Expr term = load(partial, with_inserted<Expr>(update.indices, plan.axis, factor));
  auto combine = std::make_unique<Store>(update.buffer, update.indices,
                                         binary(plan.pattern.op, load(update.buffer, update.indices), term));
  block.iters = std::move(iters);
  block.bindings = std::move(bindings);
  block.predicate = conjunction(plan.of_spatial, fresh);
  block.set_body(std::move(combine));
  return program.make_nest(loops, std::move(taken));
}

}  // namespace

BlockId rfactor(Program& program, LoopId loop_id, int64_t factor_axis) {
  Loop& loop = loop_at(program, loop_id, "rfactor");
  Factoring plan;
  throw_refusal("rfactor", program, plan_refusal(program, loop, factor_axis, &plan));

  const Buffer buffer = plan.pattern.update->buffer;
  std::vector<Expr> extents = buffer->extents;
  if (!extents.empty()) extents = with_inserted<Expr>(extents, plan.axis, Expr());
  const Buffer partial =
      with_extents(make_buffer(program.fresh_buffer_name(buffer->name + "_rf"), buffer->dtype,
                               with_inserted<int64_t>(buffer->shape, plan.axis, loop.const_extent())),
                   std::move(extents));
  program.intermediates.push_back(partial);
  std::unique_ptr<Block> made = make_partial(program, plan, partial);
  const BlockId id = made->id;
  StmtPtr taken = replace(*plan.block, std::move(made));
  insert_after(*plan.chain.front(), make_combining(program, plan, partial, std::move(taken)));
  return id;
}

KindPtr rfactor_kind() { return make_transformation("rfactor", rfactor, {"loop", "factor_axis"}); }

BlockRV Schedule::rfactor(LoopRV loop, int factor_axis) {
  return as_handle<BlockRV>(execute(kind("rfactor"), {loop, int64_t{factor_axis}}));
}

}  // namespace tunesmith
