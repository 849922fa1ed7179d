#include <fmt/format.h>

#include "analysis/element_reader.h"
#include "primitives/primitives.h"
#include "trace/kind_builder.h"
#include "tunesmith/ir/regions.h"
#include "tunesmith/ir/tree_surgery.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith {
namespace {

struct Epilogue {
  Stage reduction;
  Stage consumer;
  ReductionPattern pattern;
  Expr start;              // the value that the epilogue combines with the result
  std::vector<Expr> read;  // the epilogue's indices of the reduction's buffer
};

std::optional<Refusal> plan_refusal(const Program& program, Block& reduction, Block& block, Epilogue* plan) {
  if (auto refusal = stage_refusal(program, reduction, &plan->reduction)) return refusal;
  if (auto refusal = stage_refusal(program, block, &plan->consumer)) return refusal;
  const Buffer& buffer = plan->reduction.buffer;
  if (!match_reduction(reduction, &plan->pattern) || plan->pattern.init == nullptr)
    return Refusal{"the block is not a sum, product, minimum or maximum", reduction.name, &reduction};
  if (!is_intermediate(program, buffer))
    return Refusal{"the block writes an output of the program", buffer->name, &reduction};
  const auto& readers = plan->reduction.uses.readers;
  if (readers.size() != 1 || readers[0] != &block)
    return Refusal{"the epilogue is not the only consumer of the reduction", block.name, &block};
  if (block.has_reduction()) return Refusal{"the epilogue has a reduction", block.name, &block};
  const Store* store = body_store(block);
  if (store == nullptr || store->mask)
    return Refusal{"the body of the block is not one store", block.name, &block};

  const Expr& value = store->value;
  const bool same = value.is(plan->pattern.op);
  const bool left = same && loads_from(value.arg(0), buffer);
  const bool right = same && loads_from(value.arg(1), buffer);
  if (left == right || !(left ? value.arg(0) : value.arg(1)).is(ExprKind::Load))
    return Refusal{"the epilogue does not combine the result as the reduction does", block.name, store};
  plan->start = left ? value.arg(1) : value.arg(0);
  if (auto refusal = element_reader_refusal(block, buffer, &plan->read)) return refusal;
  return inputs_before_refusal(program, plan->consumer, buffer, reduction);
}

}  // namespace

void fuse_reduction_epilogue(Program& program, BlockId reduction_id, BlockId epilogue_id) {
  Block& reduction = block_at(program, reduction_id, "fuse_reduction_epilogue");
  Block& epilogue = block_at(program, epilogue_id, "fuse_reduction_epilogue");
  Epilogue plan;
  throw_refusal("fuse_reduction_epilogue", program, plan_refusal(program, reduction, epilogue, &plan));

  const Store& last = *body_store(epilogue);
  const Substitution map = reader_iters(epilogue, plan.read, plan.pattern.update->indices);
  const std::vector<Expr> indices = substitute(last.indices, map);
  const Buffer result = plan.consumer.buffer;
  reduction.set_init(std::make_unique<Store>(result, indices, substitute(plan.start, map)));
  reduction.set_body(std::make_unique<Store>(
      result, indices, binary(plan.pattern.op, load(result, indices), plan.pattern.term)));
  take_out(epilogue);
  std::erase(program.intermediates, plan.reduction.buffer);
}

KindPtr fuse_reduction_epilogue_kind() {
  return make_transformation("fuse_reduction_epilogue", fuse_reduction_epilogue, {"reduction", "epilogue"});
}

void Schedule::fuse_reduction_epilogue(BlockRV reduction, BlockRV epilogue) {
  execute(kind("fuse_reduction_epilogue"), {reduction, epilogue});
}

}  // namespace tunesmith
