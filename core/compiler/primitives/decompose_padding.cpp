#include <algorithm>

#include <fmt/format.h>

#include "analysis/buffer_uses.h"
#include "analysis/loop_tools.h"
#include "primitives/primitives.h"
#include "trace/kind_builder.h"
#include "tunesmith/affine/linear_form.h"
#include "tunesmith/affine/simplify.h"
#include "tunesmith/ir/fold.h"
#include "tunesmith/ir/fresh_copy.h"
#include "tunesmith/ir/tree_surgery.h"
#include "tunesmith/support/contains.h"

namespace tunesmith {
namespace {

struct Inside {
  std::vector<Interval> domain;  // the range of each iterator in which the block copies
  Expr value;
  Expr padding;
};

/// Requires a condition that bounds iterators one by one.
std::optional<Refusal> box_refusal(const Block& block, const Expr& condition, Inside* inside) {
  const Analyzer analyzer;
  for (const Expr& part : conjuncts(condition)) {
    const std::optional<LinearForm> slack = slack_of(part, analyzer);
    const Expr atom = slack && slack->terms.size() == 1 ? slack->terms[0].atom : Expr();
    const int iter = atom.is(ExprKind::Var) ? block.iter_index(Var::from(atom)) : -1;
    if (iter < 0) return Refusal{"the condition of the padding is not a box", block.name, &block};
    Interval& domain = inside->domain[static_cast<size_t>(iter)];
    const int64_t c = slack->terms[0].coefficient;
    if (c > 0) {
      domain.min = std::max(domain.min, -floor_divide(slack->constant, c));
    } else {
      domain.max = std::min(domain.max, floor_divide(slack->constant, -c));
    }
  }
  for (const Interval& domain : inside->domain) {
    if (domain.max < domain.min) return Refusal{"the block copies nothing", block.name, &block};
  }
  return std::nullopt;
}

std::optional<Refusal> plan_refusal(const Program& program, Block& block, const Loop& loop, Inside* inside) {
  Stage stage;
  if (auto refusal = stage_refusal(program, block, &stage)) return refusal;
  if (block.has_reduction()) return Refusal{"the block has a reduction", block.name, &block};
  const Store* store = body_store(block);
  if (store == nullptr || store->mask || !store->value.is(ExprKind::Select))
    return Refusal{"the block does not copy with padding", block.name, &block};
  inside->value = store->value.arg(1);
  inside->padding = store->value.arg(2);
  if (!inside->padding.is(ExprKind::IntImm) && !inside->padding.is(ExprKind::FloatImm))
    return Refusal{"the block does not pad with a constant", block.name, &block};
  const std::vector<Loop*> loops = loops_above(block);
  if (!contains(loops, &loop))
    return Refusal{"the loop does not stand around the block", loop.var->name, &loop};
  for (const IterVar& iter : block.iters) inside->domain.push_back({0, iter.extent - 1});
  return box_refusal(block, store->value.arg(0), inside);
}

/// A copy of the block with fresh iterators, which stores the padding everywhere, under fresh copies of the
/// loops from `loop` inwards.
StmtPtr make_fill(Program& program, const Block& block, Loop& loop, const Expr& padding, BlockId* id) {
  std::vector<Loop*> loops = loops_above(block);
  loops.erase(loops.begin(), std::find(loops.begin(), loops.end(), &loop));
  const Substitution fresh_loops = fresh_vars(loops);
  Substitution fresh_iters;
  std::vector<IterVar> iters;
  for (const IterVar& iter : block.iters) {
    iters.push_back({Var(iter.var->name), iter.extent, iter.kind});
    fresh_iters.set(iter.var, iters.back().var);
  }
  const Store& store = *body_store(block);
  std::unique_ptr<Block> fill = program.make_block(
      block.name + "_pad", std::move(iters), substitute(block.bindings, fresh_loops), nullptr,
      std::make_unique<Store>(store.buffer, substitute(store.indices, fresh_iters), padding));
  fill->predicate = substitute(block.predicate, fresh_loops);
  *id = fill->id;
  return copy_loops(program, loops, fresh_loops, std::move(fill));
}

}  // namespace

BlockId decompose_padding(Program& program, BlockId block_id, LoopId loop_id) {
  Block& block = block_at(program, block_id, "decompose_padding");
  Loop& loop = loop_at(program, loop_id, "decompose_padding");
  Inside inside;
  throw_refusal("decompose_padding", program, plan_refusal(program, block, loop, &inside));

  BlockId id{};
  insert_before(loop, make_fill(program, block, loop, inside.padding, &id));
  // Shrinks the domains to the copied range, so that the block still covers its domains.
  const Analyzer analyzer = Analyzer::at(block);
  auto& store = const_cast<Store&>(*body_store(block));
  Substitution shifted;
  for (size_t i = 0; i < block.iters.size(); ++i) {
    const Interval& domain = inside.domain[i];
    const int64_t extent = domain.max - domain.min + 1;
    IterVar& iter = block.iters[i];
    if (domain.min == 0 && extent == iter.extent) continue;
    const Var var(iter.var->name);
    shifted.set(iter.var, var + Expr(domain.min));
    block.bindings[i] = analyzer.simplify(block.bindings[i] - domain.min);
    if (domain.min > 0) block.predicate = logical_and(block.predicate, le(0, block.bindings[i]));
    if (domain.max < iter.extent - 1)
      block.predicate = logical_and(block.predicate, lt(block.bindings[i], extent));
    iter = {var, extent, iter.kind};
  }
  store.indices = substitute(store.indices, shifted);
  store.value = analyzer.simplify(substitute(inside.value, shifted));
  return id;
}

KindPtr decompose_padding_kind() {
  return make_transformation("decompose_padding", decompose_padding, {"block", "loop"});
}

BlockRV Schedule::decompose_padding(BlockRV block, LoopRV loop) {
  return as_handle<BlockRV>(execute(kind("decompose_padding"), {block, loop}));
}

}  // namespace tunesmith
