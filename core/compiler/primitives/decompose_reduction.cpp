#include <algorithm>

#include <fmt/format.h>

#include "analysis/buffer_uses.h"
#include "analysis/loop_tools.h"
#include "primitives/primitives.h"
#include "trace/kind_builder.h"
#include "tunesmith/analysis/blocks.h"
#include "tunesmith/ir/fresh_copy.h"
#include "tunesmith/ir/tree_surgery.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/support/contains.h"

namespace tunesmith {
namespace {

struct Decomposition {
  std::vector<Loop*> copied;     // loops of the init block, outermost first
  std::vector<Expr> conditions;  // the conjuncts of its predicate
};

/// A block inside the loop that writes what the init reads, or null.
const Block* producer_inside(const Loop& loop, const Block& block) {
  std::vector<Buffer> read;
  walk_accesses(*block.init(), [&](const Stmt&, const AccessSite& access) {
    if (access.load != nullptr) read.push_back(access.buffer);
  });
  return find_first<Block>(loop, [&](const Block& other) {
    const std::vector<Buffer> written = buffers_written(other);
    return &other != &block && std::any_of(written.begin(), written.end(),
                                           [&](const Buffer& buffer) { return contains(read, buffer); });
  });
}

std::optional<Refusal> plan_refusal(const Block& block, const Loop& loop, Decomposition* plan) {
  if (block.init() == nullptr) return Refusal{"the block has no initialisation", block.name, &block};
  const std::vector<Loop*> loops = loops_above(block);
  const auto at = std::find(loops.begin(), loops.end(), &loop);
  if (at == loops.end()) return Refusal{"the loop does not stand around the block", loop.var->name, &loop};
  for (auto outer = loops.begin(); outer != at; ++outer) {
    if (use_of(**outer, block).reduction)
      return Refusal{"a loop further out carries the reduction", (*outer)->var->name, *outer};
  }
  std::vector<Loop*> reducing;
  for (auto inner = at; inner != loops.end(); ++inner) {
    const LoopUse use = use_of(**inner, block);
    if (use.opaque) return Refusal{"the loop carries an opaque iterator", (*inner)->var->name, *inner};
    if (use.spatial && use.reduction)
      return Refusal{"a loop carries spatial and reduction iterators", (*inner)->var->name, *inner};
    // A loop that no binding uses may still select, by the predicate, the iteration that does the work; and a
    // loop of one iteration is copied, so that the number of loops does not depend on tile sizes.
    (use.reduction ? reducing : plan->copied).push_back(*inner);
  }
  if (!runs_once(block, loop))
    return Refusal{"an instance of the block may run more than once inside the loop", block.name, &block};

  if (const Block* producer = producer_inside(loop, block))
    return Refusal{"a block inside the loop writes what the initialisation reads", producer->name, producer};

  for (const Expr& condition : conjuncts(block.predicate)) {
    const auto uses = [&](const Loop* inner) { return uses_var(condition, inner->var); };
    if (std::none_of(reducing.begin(), reducing.end(), uses)) {
      plan->conditions.push_back(condition);
    } else if (std::any_of(loops.begin(), at, uses) ||
               std::any_of(plan->copied.begin(), plan->copied.end(), uses)) {
      return Refusal{"a condition of the block binds spatial and reduction loops together", block.name,
                     &block};
    }
  }
  return std::nullopt;
}

}  // namespace

BlockId decompose_reduction(Program& program, BlockId block_id, LoopId loop_id) {
  Block& block = block_at(program, block_id, "decompose_reduction");
  Loop& loop = loop_at(program, loop_id, "decompose_reduction");
  Decomposition plan;
  throw_refusal("decompose_reduction", program, plan_refusal(block, loop, &plan));

  const Substitution fresh_loops = fresh_vars(plan.copied);
  Substitution fresh_iters;
  std::vector<IterVar> iters;
  std::vector<Expr> bindings;
  for (size_t i = 0; i < block.iters.size(); ++i) {
    const IterVar& iter = block.iters[i];
    if (iter.kind == IterKind::Reduction) continue;
    iters.push_back({Var(iter.var->name), iter.extent, iter.kind});
    bindings.push_back(substitute(block.bindings[i], fresh_loops));
    fresh_iters.set(iter.var, iters.back().var);
  }
  StmtPtr body = block.take_init();
  substitute_in(*body, fresh_iters);
  std::unique_ptr<Block> init = program.make_block(block.name + "_init", std::move(iters),
                                                   std::move(bindings), nullptr, std::move(body));
  for (const Expr& condition : plan.conditions)
    init->predicate = logical_and(init->predicate, substitute(condition, fresh_loops));
  const BlockId id = init->id;

  insert_before(loop, copy_loops(program, plan.copied, fresh_loops, std::move(init)));
  return id;
}

KindPtr decompose_reduction_kind() {
  return make_loop_transformation("decompose_reduction", decompose_reduction, {"block", "loop"});
}

BlockRV Schedule::decompose_reduction(BlockRV block, LoopRV loop) {
  return as_handle<BlockRV>(execute(kind("decompose_reduction"), {block, loop}));
}

}  // namespace tunesmith
