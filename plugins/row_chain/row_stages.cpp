#include "row_stages.h"

#include <algorithm>
#include <optional>

#include <tunesmith/stable/analysis.h>
#include <tunesmith/tiling/lane_reduction.h>
#include <tunesmith/tiling/vector_lanes.h>

namespace tunesmith {
namespace {

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
    if (schedule.block(stage.block).has_reduction())
      stage.partials = factor_into_lanes(schedule, stage.block, stage.lanes, choices.accumulators);
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

RowsFirst rows_first(Schedule& schedule, BlockRV block, const std::vector<size_t>& rows) {
  RowsFirst order;
  const std::vector<LoopRV> loops = schedule.get_loops(block);
  for (const size_t row : rows) {
    const std::vector<bool> its = loops_of_rows(schedule, block, {row});
    for (size_t i = 0; i < loops.size(); ++i) {
      if (its[i]) order.rows.push_back(loops[i]);
    }
  }
  const std::vector<bool> of_rows = loops_of_rows(schedule, block, rows);
  for (size_t i = 0; i < loops.size(); ++i) {
    if (!of_rows[i]) order.others.push_back(loops[i]);
  }
  std::vector<LoopRV> all = order.rows;
  all.insert(all.end(), order.others.begin(), order.others.end());
  if (all.size() > 1) schedule.reorder(all);
  return order;
}

std::vector<BlockRV> finish_stage(Schedule& schedule, const RowStage& stage, const RowChoices& choices) {
  if (schedule.block(stage.block).has_reduction())
    return finish_lane_reduction(schedule, stage.block, stage.partials);
  finish_elementwise(schedule, stage, choices);
  return {};
}

}  // namespace tunesmith
