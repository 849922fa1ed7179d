#include <algorithm>

#include <fmt/format.h>

#include "analysis/buffer_uses.h"
#include "analysis/loop_tools.h"
#include "ir/tree_surgery.h"
#include "primitives/primitives.h"
#include "trace/kind_builder.h"

namespace tunesmith {
namespace {

struct Decomposition {
  std::vector<Loop*> copied;     // loops of the initialisation, outermost first
  std::vector<Expr> conditions;  // its predicate's parts
};

bool used_by(const Block& block, const Var& var, IterKind kind) {
  for (size_t i = 0; i < block.iters.size(); ++i) {
    if (block.iters[i].kind == kind && uses_var(block.bindings[i], var)) return true;
  }
  return false;
}

/// A block inside the loop that writes what the initialisation reads, or null.
const Block* producer_inside(const Loop& loop, const Block& block) {
  std::vector<Buffer> read;
  for_each_stmt(static_cast<const Stmt&>(*block.init()), [&](const Stmt& stmt) {
    for_each_expr(stmt, [&](const Expr& expr) {
      for_each(expr, [&](const Expr& part) {
        if (const LoadNode* access = part.as<LoadNode>()) read.push_back(access->buffer);
      });
    });
  });
  const Block* found = nullptr;
  for_each_stmt(static_cast<const Stmt&>(loop), [&](const Stmt& stmt) {
    const Block* other = stmt.as<Block>();
    if (found != nullptr || other == nullptr || other == &block) return;
    for (const Buffer& written : buffers_written(*other)) {
      if (std::find(read.begin(), read.end(), written) != read.end()) found = other;
    }
  });
  return found;
}

std::optional<Refusal> plan_refusal(const Block& block, const Loop& loop, Decomposition* plan) {
  if (block.init() == nullptr) return Refusal{"the block has no initialisation", block.name, &block};
  const std::vector<Loop*> loops = loops_above(block);
  const auto at = std::find(loops.begin(), loops.end(), &loop);
  if (at == loops.end()) return Refusal{"the loop does not stand around the block", loop.var->name, &loop};
  for (auto outer = loops.begin(); outer != at; ++outer) {
    if (used_by(block, (*outer)->var, IterKind::Reduction))
      return Refusal{"a loop further out carries the reduction", (*outer)->var->name, *outer};
  }
  std::vector<Loop*> reducing;
  for (auto inner = at; inner != loops.end(); ++inner) {
    const bool spatial = used_by(block, (*inner)->var, IterKind::Spatial);
    const bool reduction = used_by(block, (*inner)->var, IterKind::Reduction);
    if (used_by(block, (*inner)->var, IterKind::Opaque))
      return Refusal{"the loop carries an opaque iterator", (*inner)->var->name, *inner};
    if (spatial && reduction)
      return Refusal{"a loop carries spatial and reduction iterators", (*inner)->var->name, *inner};
    // A loop in no binding may still choose, by the predicate, the iteration that does the work; and a loop
    // of one iteration is copied so that the number of loops does not depend on the sizes of spatial tiles.
    (reduction ? reducing : plan->copied).push_back(*inner);
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

  Substitution fresh_loops;
  for (const Loop* copied : plan.copied) fresh_loops.set(copied->var, Var(copied->var->name));
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

  StmtPtr nest = std::move(init);
  for (size_t i = plan.copied.size(); i-- > 0;) {
    const Loop& old = *plan.copied[i];
    std::unique_ptr<Loop> copy =
        program.make_loop(Var::from(*fresh_loops.find(old.var.get())), old.const_extent(), std::move(nest));
    copy->loop_kind = old.loop_kind;
    copy->thread = old.thread;
    nest = std::move(copy);
  }
  insert_before(loop, std::move(nest));
  return id;
}

KindPtr decompose_reduction_kind() {
  return make_loop_transformation("decompose_reduction", decompose_reduction, {"block", "loop"});
}

BlockRV Schedule::decompose_reduction(BlockRV block, LoopRV loop) {
  return as_handle<BlockRV>(execute(kind("decompose_reduction"), {block, loop}));
}

}  // namespace tunesmith
