// Reductions along vectors: partial results in the lanes of several
// accumulators, combined into one accumulator, which is combined by halves.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "tunesmith/stable/schedule.h"
#include "tunesmith/tiling/sampled_tiles.h"

namespace tunesmith {
inline namespace stable {

/// One of the widths; those that divide the extent are more likely.
inline IntRV sample_width(Schedule& schedule, int64_t extent, const std::vector<int64_t>& widths) {
  std::vector<double> weights;
  for (const int64_t width : widths) weights.push_back(extent % width == 0 ? 4.0 : 1.0);
  return sample_weighted(schedule, widths, std::move(weights));
}

/// The vector counts shorter than the extent, so that every choice leaves the same loops.
inline std::vector<int64_t> widths_within(int64_t extent, int64_t lanes, int64_t min_vectors,
                                          const std::vector<int64_t>& vectors) {
  std::vector<int64_t> widths;
  for (const int64_t count : vectors) {
    if (count >= min_vectors && count * lanes < extent) widths.push_back(count * lanes);
  }
  return widths;
}

/// Factors the reduction by the last loop of the block: by the lanes of several vectors (`accumulators`:
/// choices for their number) if the loop is long enough, then of one, half a vector, and so on. Returns
/// the blocks of partial results in text order: none if the last loop is no reduction or fits one vector.
inline std::vector<BlockRV> factor_into_lanes(Schedule& schedule, BlockRV block, int64_t lanes,
                                              const std::vector<int64_t>& accumulators) {
  std::vector<BlockRV> partials;
  const std::vector<LoopRV> loops = schedule.get_loops(block);
  const LoopFacts last = schedule.facts(loops.back());
  if (!last.use.reduction || last.extent <= lanes || lanes == 1) return partials;
  const auto axis = static_cast<int>(schedule.writes_of(block).front().buffer->shape.size());
  const auto by = [&](LoopRV loop, const IntArg& width) {
    partials.push_back(schedule.rfactor(schedule.split(loop, {std::nullopt, width}).back(), axis));
  };
  const std::vector<int64_t> widths = widths_within(last.extent, lanes, 2, accumulators);
  if (!widths.empty()) by(loops.back(), sample_width(schedule, last.extent, widths));
  for (int64_t width = lanes; width > 1; width /= 2) by(schedule.get_loops(block).back(), width);
  return partials;
}

/// Schedules one accumulating block: moves its init before the reduction,
/// vectorizes what is in lanes, and unrolls the reduction if requested. Returns
/// the init block, or the block itself if the reduction is a single step.
inline BlockRV finish_reduction(Schedule& schedule, BlockRV block, bool in_lanes, bool unrolled) {
  const std::vector<LoopRV> loops = schedule.get_loops(block);
  const std::vector<LoopFacts> facts = schedule.loops_of(block);
  const auto first = std::ranges::find_if(facts, [](const LoopFacts& loop) { return loop.use.reduction; });
  if (first == facts.end()) return block;
  const BlockRV init = schedule.decompose_reduction(block, loops[static_cast<size_t>(first - facts.begin())]);
  if (in_lanes) {
    schedule.vectorize(loops.back());
    if (const std::vector<LoopRV> its = schedule.get_loops(init); !its.empty())
      schedule.vectorize(its.back());
  }
  if (unrolled) {
    for (size_t i = 0; i < loops.size(); ++i) {
      if (facts[i].use.reduction) schedule.unroll(loops[i]);
    }
  }
  return init;
}

/// Schedules all blocks that factor_into_lanes() made; partial
/// results stay in registers. Returns the init blocks.
inline std::vector<BlockRV> finish_lane_reduction(Schedule& schedule, BlockRV block,
                                                  const std::vector<BlockRV>& partials) {
  std::vector<BlockRV> made;
  for (const BlockRV& partial : partials) {
    made.push_back(finish_reduction(schedule, partial, true, partial != partials.front()));
    schedule.set_scope(partial, 0, "local");
  }
  made.push_back(finish_reduction(schedule, block, false, !partials.empty()));
  return made;
}

}  // namespace stable
}  // namespace tunesmith
