#include <algorithm>

#include <fmt/format.h>

#include "analysis/buffer_uses.h"
#include "analysis/element_reader.h"
#include "primitives/primitives.h"
#include "primitives/shared/copy_nest.h"
#include "trace/kind_builder.h"
#include "tunesmith/ir/extents.h"
#include "tunesmith/ir/regions.h"
#include "tunesmith/ir/tree_surgery.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith {
namespace {

/// A product of `factors`, divided by each of `divisors`.
struct Product {
  std::vector<Expr> factors;
  std::vector<Expr> divisors;

  bool empty() const { return factors.empty() && divisors.empty(); }

  /// `value`, or one, times the product.
  Expr times(Expr value, DType type) const {
    for (const Expr& factor : factors) value = value ? value * factor : factor;
    if (!value) value = constant(1, type);
    for (const Expr& divisor : divisors) value = div(value, divisor);
    return value;
  }
};

struct SharedFactors {
  Stage stage;
  Product varying;  // over the steps of the sum
  Product shared;   // by all of them
};

void sort_factors(const Expr& term, bool divides, std::span<const Var> reduced, SharedFactors* plan) {
  const bool varies = uses_any(term, reduced);
  const bool quotient = term.is(ExprKind::Div) && term.dtype().is_float();
  if (varies && (term.is(ExprKind::Mul) || quotient)) {
    sort_factors(term.arg(0), divides, reduced, plan);
    sort_factors(term.arg(1), divides != quotient, reduced, plan);
    return;
  }
  Product& product = varies ? plan->varying : plan->shared;
  (divides ? product.divisors : product.factors).push_back(term);
}

/// Nothing when what the shared factors load is still there after the block's loop nest.
std::optional<Refusal> loads_refusal(const Program& program, const SharedFactors& plan) {
  const Block& block = *plan.stage.block;
  const Stmt& nest = outermost_in_scope(*plan.stage.block);
  const Expr loaded = plan.shared.times(Expr(), plan.stage.buffer->dtype);
  for (const Buffer& buffer : buffers_read(block)) {
    if (!loads_from(loaded, buffer)) continue;
    for (const Block* writer : uses_of(program, buffer, plan.stage.scope).writers) {
      if (is_ancestor(nest, *writer))
        return Refusal{"a shared factor is written in the loop nest of the sum", writer->name, writer};
    }
  }
  return std::nullopt;
}

std::optional<Refusal> plan_refusal(const Program& program, Block& block, SharedFactors* plan) {
  if (auto refusal = stage_refusal(program, block, &plan->stage)) return refusal;
  ReductionPattern pattern;
  if (!match_reduction(block, &pattern) || pattern.init == nullptr || pattern.op != ExprKind::Add)
    return Refusal{"the block is not a sum", block.name, &block};
  if (reduces_varying(block)) return Refusal{"the steps of the reduction vary", block.name, &block};
  if (!writes_everything(block, plan->stage.buffer))
    return Refusal{"the block does not write every element of its buffer", plan->stage.buffer->name, &block};
  if (auto refusal = reader_in_nest_refusal(plan->stage)) return refusal;
  std::vector<Var> reduced;
  for (const IterVar& iter : block.iters) {
    if (iter.kind == IterKind::Reduction) reduced.push_back(iter.var);
  }
  sort_factors(pattern.term, false, reduced, plan);
  if (plan->shared.empty())
    return Refusal{"the steps of the sum share no factor", block.name, pattern.update};
  if (!writer_iters(block, pattern.update->indices))
    return Refusal{"the indices do not determine the iteration that writes an element", block.name,
                   pattern.update};
  return loads_refusal(program, *plan);
}

}  // namespace

BlockId factor_out(Program& program, BlockId id) {
  Block& block = block_at(program, id, "factor_out");
  SharedFactors plan;
  throw_refusal("factor_out", program, plan_refusal(program, block, &plan));

  const Buffer buffer = plan.stage.buffer;
  const Buffer sum = with_extents(
      make_buffer(program.fresh_buffer_name(buffer->name + "_sum"), buffer->dtype, buffer->shape),
      buffer->extents);
  program.intermediates.push_back(sum);
  replace_buffer_in(block, buffer, sum);
  auto& update = const_cast<Store&>(*body_store(block));
  update.value = load(sum, update.indices) + plan.varying.times(Expr(), buffer->dtype);

  BlockNest made = make_block_nest(
      program, block.name + "_factored", buffer->shape, [&](const std::vector<Expr>& indices) {
        const Expr value = plan.shared.times(load(sum, update.indices), buffer->dtype);
        return std::make_unique<Store>(buffer, indices, substitute(value, *writer_iters(block, indices)));
      });
  insert_after(outermost_in_scope(block), std::move(made.nest));
  return made.block->id;
}

KindPtr factor_out_kind() { return make_transformation("factor_out", factor_out, {"block"}); }

BlockRV Schedule::factor_out(BlockRV block) {
  return as_handle<BlockRV>(execute(kind("factor_out"), {block}));
}

}  // namespace tunesmith
