#include "primitives/shared/placement.h"

#include <algorithm>

#include <fmt/format.h>

#include "tunesmith/analysis/blocks.h"
#include "tunesmith/ir/tree_surgery.h"
#include "tunesmith/support/contains.h"

namespace tunesmith {

LoopNest make_nest(const Block& block, std::span<const DimRange> ranges, Analyzer& analyzer) {
  LoopNest nest;
  nest.predicate = bool_imm(true);
  for (size_t i = 0; i < ranges.size(); ++i) {
    const auto& [min, extent] = ranges[i];
    const int64_t domain = block.iters[i].extent;
    Expr binding = min;
    if (extent > 1) {
      const Var var(fmt::format("ax{}", nest.loops.size()));
      nest.loops.push_back({var, extent});
      analyzer.bind(var, extent);
      binding = is_const_int(min, 0) ? Expr(var) : analyzer.simplify(min + var);
    }
    const Interval starts = analyzer.bounds(min);
    if (starts.min < 0) nest.predicate = logical_and(nest.predicate, le(0, binding));
    if (starts.max + extent > domain) nest.predicate = logical_and(nest.predicate, lt(binding, domain));
    nest.bindings.push_back(std::move(binding));
  }
  return nest;
}

void move_block(Program& program, Block& block, LoopNest nest, const Place& place) {
  StmtPtr moved = take_out(block);
  block.bindings = std::move(nest.bindings);
  block.predicate = std::move(nest.predicate);
  moved = program.make_nest(nest.loops, std::move(moved));
  if (place.after) {
    insert_after(*place.anchor, std::move(moved));
  } else {
    insert_before(*place.anchor, std::move(moved));
  }
}

const Loop* reduction_loop_around(const Block& block, const Stmt& at) {
  for (const Stmt* up = &at; up != nullptr && up->kind != StmtKind::Block; up = up->parent) {
    const Loop* loop = up->as<Loop>();
    if (loop == nullptr || !is_ancestor(*loop, block)) continue;
    const LoopUse use = use_of(*loop, block);
    if (use.reduction || use.opaque) return loop;
  }
  return nullptr;
}

std::optional<Refusal> inputs_refusal(const Program& program, const Stage& stage, const LoopNest& nest,
                                      const Place& place, const Analyzer& analyzer,
                                      std::span<const Buffer> checked) {
  const Block& block = *stage.block;
  for (const Buffer& buffer : buffers_read(block)) {
    if (!is_intermediate(program, buffer) && !is_output(program, buffer)) continue;
    if (contains(checked, buffer)) continue;
    const std::vector<Block*> writers = uses_of(program, buffer, stage.scope).writers;
    const Stmt* shared = nullptr;
    for (const Block* writer : writers) {
      if (writer == &block) continue;
      if (has_opaque_iter(*writer))
        return Refusal{"an input of the block is produced in a fixed order", writer->name, writer};
      const bool before =
          precedes(*writer, *place.anchor) || (place.after && is_ancestor(*place.anchor, *writer));
      if (!before) return Refusal{"an input of the block is written after the place", writer->name, writer};
      shared = common_ancestor(*writer, *place.loop);
      if (const Loop* loop = reduction_loop_around(*writer, *shared))
        return Refusal{"an input of the block is not finished at the loop",
                       fmt::format("{} accumulates over {}", writer->name, loop->var->name), writer};
    }
    // Under common loops, inputs must come from the same iteration.
    const Stmt* outer = shared;
    while (outer != nullptr && outer->kind != StmtKind::Loop && outer->kind != StmtKind::Block)
      outer = outer->parent;
    if (outer == nullptr || outer->kind != StmtKind::Loop) continue;
    Viewpoint view{{}, analyzer};
    for (const auto& [var, extent] : nest.loops) view.moving.push_back(var);
    for (const Stmt* at = place.loop; at != shared; at = at->parent) {
      if (const Loop* loop = at->as<Loop>()) view.moving.push_back(loop->var);
    }
    const Block& writer = *writers.back();
    std::vector<Expr> conditions;
    const auto written = written_region(writer, buffer, *shared, &conditions);
    const auto read = read_region(block, nest.bindings, buffer, view);
    if (!written || !conditions.empty() || (read && !covers_within(*written, *read, buffer, analyzer)))
      return Refusal{"an iteration of a loop around does not write all that the block reads there",
                     fmt::format("{} by {}", buffer->name, writer.name), &writer};
  }
  return std::nullopt;
}

std::optional<Refusal> target_refusal(const Stage& stage, const Loop& loop) {
  if (enclosing_block(loop) != stage.scope)
    return Refusal{"the loop stands in another scope than the block", loop.var->name, &loop};
  for (const Stmt* at = &loop; at != nullptr && at->kind != StmtKind::Block; at = at->parent) {
    const Loop* around = at->as<Loop>();
    if (around != nullptr && around->loop_kind == LoopKind::Vectorized)
      return Refusal{"the loop is vectorized", around->var->name, around};
  }
  return std::nullopt;
}

}  // namespace tunesmith
