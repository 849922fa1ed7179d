#include "row_stages.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <tunesmith/stable/analysis.h>
#include <tunesmith/tiling/sampled_tiles.h>
#include <tunesmith/tiling/vector_lanes.h>

namespace tunesmith {
namespace {

/// One of the widths; those that divide the extent are likelier.
IntRV sample_width(Schedule& schedule, int64_t extent, const std::vector<int64_t>& widths) {
  std::vector<double> weights;
  for (const int64_t width : widths) weights.push_back(extent % width == 0 ? 4.0 : 1.0);
  return sample_weighted(schedule, widths, std::move(weights));
}

/// Of so many vectors, those shorter than the extent: whichever is drawn, the same loops are left.
std::vector<int64_t> widths_within(int64_t extent, int64_t lanes, int64_t min_vectors,
                                   const std::vector<int64_t>& vectors) {
  std::vector<int64_t> widths;
  for (const int64_t count : vectors) {
    if (count >= min_vectors && count * lanes < extent) widths.push_back(count * lanes);
  }
  return widths;
}

/// The reduction by the last of its loops: by the lanes of several vectors and then of one, or of one alone.
void factor(Schedule& schedule, RowStage* stage, const RowChoices& choices) {
  const std::vector<LoopRV> loops = schedule.get_loops(stage->block);
  const LoopFacts last = schedule.facts(loops.back());
  if (!last.use.reduction || last.extent <= stage->lanes || stage->lanes == 1) return;
  const auto axis = static_cast<int>(schedule.writes_of(stage->block).front().buffer->shape.size());
  const auto by = [&](LoopRV loop, const IntArg& width) {
    stage->partials.push_back(schedule.rfactor(schedule.split(loop, {std::nullopt, width}).back(), axis));
  };
  const std::vector<int64_t> widths = widths_within(last.extent, stage->lanes, 2, choices.accumulators);
  if (widths.empty()) return by(loops.back(), stage->lanes);
  by(loops.back(), sample_width(schedule, last.extent, widths));
  by(schedule.get_loops(stage->block).back(), stage->lanes);
}

void vectorize_last(Schedule& schedule, BlockRV block) {
  const std::vector<LoopRV> loops = schedule.get_loops(block);
  if (!loops.empty()) schedule.vectorize(loops.back());
}

/// One block that accumulates: its initialisation goes ahead of the reduction.
BlockRV finish_reduction(Schedule& schedule, BlockRV block, bool in_lanes, bool unrolled) {
  const std::vector<LoopRV> loops = schedule.get_loops(block);
  const std::vector<LoopFacts> facts = schedule.loops_of(block);
  const auto first = std::ranges::find_if(facts, [](const LoopFacts& loop) { return loop.use.reduction; });
  if (first == facts.end()) return block;  // a single step
  const BlockRV init = schedule.decompose_reduction(block, loops[static_cast<size_t>(first - facts.begin())]);
  if (in_lanes) {
    schedule.vectorize(loops.back());
    vectorize_last(schedule, init);
  }
  if (unrolled) {
    for (size_t i = 0; i < loops.size(); ++i) {
      if (facts[i].use.reduction) schedule.unroll(loops[i]);
    }
  }
  return init;
}

void finish_elementwise(Schedule& schedule, const RowStage& stage, const RowChoices& choices) {
  const std::vector<LoopRV> loops = schedule.get_loops(stage.block);
  if (loops.empty()) return;
  const LoopFacts last = schedule.facts(loops.back());
  if (loops_of_rows(schedule, stage.block, stage.rows).back() || last.kind != LoopKind::Serial ||
      schedule.store_stride(stage.block, loops.back()) != 1)
    return;
  std::vector<int64_t> widths = widths_within(last.extent, stage.lanes, 1, choices.accumulators);
  if (widths.empty()) widths.push_back(last.extent);
  const IntRV width = sample_width(schedule, last.extent, widths);
  schedule.vectorize(schedule.split(loops.back(), {std::nullopt, width}).back());
}

}  // namespace

std::vector<RowStage> factor_reductions(Schedule& schedule, const Chain& chain,
                                        const std::vector<std::string>& names, const RowChoices& choices) {
  std::vector<RowStage> stages;
  for (const std::string& name : names) {
    RowStage stage;
    stage.block = schedule.get_block(name);
    stage.rows = chain.rows.at(name);
    stage.lanes = vector_lanes(schedule, stage.block, choices.vector_bits);
    if (schedule.block(stage.block).has_reduction()) factor(schedule, &stage, choices);
    stages.push_back(std::move(stage));
  }
  return stages;
}

std::vector<bool> loops_of_rows(const Schedule& schedule, BlockRV block, const std::vector<size_t>& rows) {
  const Block view = schedule.block(block);
  const std::vector<IterVar> iters = view.iters();
  std::vector<bool> found;
  for (const Pointer<Loop>& loop : loops_above(view)) {
    const Var var = loop->var();
    found.push_back(std::ranges::any_of(rows, [&](size_t row) {
      return any_of_expr(iters[row].binding,
                         [&](const Expr& part) { return part.is(ExprKind::Var) && part.var() == var; });
    }));
  }
  return found;
}

std::vector<BlockRV> finish_stage(Schedule& schedule, const RowStage& stage, const RowChoices& choices) {
  std::vector<BlockRV> made;
  if (!schedule.block(stage.block).has_reduction()) {
    finish_elementwise(schedule, stage, choices);
    return made;
  }
  for (const BlockRV& partial : stage.partials) {
    made.push_back(finish_reduction(schedule, partial, true,
                                    stage.partials.size() > 1 && partial == stage.partials.back()));
    schedule.set_scope(partial, 0, "local");
  }
  made.push_back(finish_reduction(schedule, stage.block, false, !stage.partials.empty()));
  return made;
}

}  // namespace tunesmith
