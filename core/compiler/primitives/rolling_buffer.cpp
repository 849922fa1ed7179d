#include <algorithm>

#include <fmt/format.h>

#include "analysis/accesses.h"
#include "analysis/buffer_uses.h"
#include "analysis/touched_region.h"
#include "primitives/primitives.h"
#include "primitives/shared/placement.h"
#include "primitives/shared/varying.h"
#include "trace/kind_builder.h"
#include "tunesmith/affine/linear_form.h"
#include "tunesmith/affine/simplify.h"
#include "tunesmith/ir/move_accesses.h"
#include "tunesmith/ir/tree_surgery.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith {
namespace {

struct Rolling {
  Stage stage;
  Loop* loop = nullptr;  // the innermost loop around the block and all its consumers
  size_t axis = 0;       // the dimension along which the window moves
  Region window;         // the region that one iteration of the loop writes
  int64_t step = 0;      // distance that the window moves per iteration
};

/// The innermost loop around the block and its consumers, or null.
Loop* loop_around(const Stage& stage) {
  const Stmt* common = stage.block;
  for (const Block* reader : stage.uses.readers) common = common_ancestor(*common, *reader);
  auto* around = const_cast<Stmt*>(common);
  while (around != nullptr && around->kind != StmtKind::Loop && around->kind != StmtKind::Block)
    around = around->parent;
  return around == nullptr ? nullptr : around->as<Loop>();
}

/// Requires that the window moves along one dimension, forwards, and overlaps itself.
std::optional<Refusal> window_refusal(const Analyzer& analyzer, Rolling* plan) {
  const Loop& loop = *plan->loop;
  size_t moving = 0;
  for (size_t d = 0; d < plan->window.size(); ++d) {
    const LinearForm form = analyzer.linear(plan->window[d].min);
    const int64_t step = form.coefficient_of(loop.var);
    const bool hidden = hides(form, loop.var);
    if (step == 0 && !hidden) continue;
    if (hidden || step < 0 || ++moving > 1)
      return Refusal{"what an iteration of the loop writes does not move along one dimension",
                     plan->stage.buffer->name, &loop};
    plan->axis = d;
    plan->step = step;
  }
  if (moving == 0 || plan->step >= plan->window[plan->axis].extent)
    return Refusal{"iterations of the loop share no element of the buffer", plan->stage.buffer->name, &loop};
  return std::nullopt;
}

std::optional<Refusal> plan_refusal(const Program& program, Block& block, Rolling* plan) {
  Stage& stage = plan->stage;
  if (auto refusal = stage_refusal(program, block, &stage)) return refusal;
  if (!is_intermediate(program, stage.buffer))
    return Refusal{"the block writes an output of the program", stage.buffer->name, &block};
  if (auto refusal = replaced_refusal(program, stage.buffer)) return refusal;
  if (stage.uses.readers.empty()) return Refusal{"the block has no consumer", block.name, &block};
  if (body_store(block) == nullptr)
    return Refusal{"the body of the block is not one store", block.name, &block};
  plan->loop = loop_around(stage);
  if (plan->loop == nullptr)
    return Refusal{"the block shares no loop with its consumers", block.name, &block};
  const Loop& loop = *plan->loop;
  if (loop.loop_kind != LoopKind::Serial)
    return Refusal{"the loop is not serial",
                   fmt::format("{} is {}", loop.var->name, loop_kind_name(loop.loop_kind)), &loop};
  if (const Loop* carrying = reduction_loop_around(block, loop))
    return Refusal{"a loop further out carries the reduction", carrying->var->name, carrying};

  std::vector<Expr> conditions;
  auto window = written_region(block, stage.buffer, loop, &conditions);
  if (!window || !conditions.empty())
    return Refusal{"cannot determine what an iteration of the loop writes", block.name, &block};
  plan->window = std::move(*window);
  const Analyzer analyzer = Analyzer::at(*loop.body());
  for (const Block* reader : stage.uses.readers) {
    const auto read = read_region(*reader, reader->bindings, stage.buffer, view_from(loop, *reader));
    if (!read || !covers_within(plan->window, *read, stage.buffer, analyzer))
      return Refusal{"a consumer reads more than an iteration of the loop writes", reader->name, reader};
  }
  return window_refusal(analyzer, plan);
}

/// Makes elements that are a window apart share memory.
void fold(Program& program, const Buffer& buffer, size_t axis, int64_t extent) {
  std::vector<int64_t> shape = buffer->shape;
  shape[axis] = extent;
  const Buffer folded = make_buffer(buffer->name, buffer->dtype, std::move(shape), buffer->scope);
  const Stmt* known = nullptr;
  Analyzer analyzer;
  move_accesses(program.root(), buffer, folded, [&](const Stmt& stmt, std::span<const Expr> indices) {
    if (known != &stmt) analyzer = Analyzer::at(stmt);
    known = &stmt;
    std::vector<Expr> turned(indices.begin(), indices.end());
    turned[axis] = analyzer.simplify(floormod(turned[axis], extent));
    return turned;
  });
  program.swap_buffer(buffer, folded);
}

}  // namespace

void rolling_buffer(Program& program, BlockId id, int64_t write_index) {
  Block& block = block_at(program, id, "rolling_buffer");
  require_access(program, block, "write", write_index, "rolling_buffer");
  Rolling plan;
  throw_refusal("rolling_buffer", program, plan_refusal(program, block, &plan));

  const auto& [min, extent] = plan.window[plan.axis];
  const Expr index = substitute(body_store(block)->indices[plan.axis], block.iters_at(block.bindings));
  // The previous iteration has already written the rest.
  const Expr fresh = Analyzer::at(block).simplify(le(extent - plan.step, index - min));
  block.predicate = logical_and(block.predicate, logical_or(eq(plan.loop->var, 0), fresh));
  // The loop becomes opaque: iterations now depend on their order and on each other.
  block.iters.push_back({Var("v" + plan.loop->var->name), plan.loop->const_extent(), IterKind::Opaque});
  block.bindings.emplace_back(plan.loop->var);
  if (extent < plan.stage.buffer->shape[plan.axis]) fold(program, plan.stage.buffer, plan.axis, extent);
}

KindPtr rolling_buffer_kind() {
  return make_transformation("rolling_buffer", rolling_buffer, {"block", "write_index"});
}

void Schedule::rolling_buffer(BlockRV block, int write_index) {
  execute(kind("rolling_buffer"), {block, int64_t{write_index}});
}

}  // namespace tunesmith
