// Products of matrices by tensor intrinsics that groups of a level execute together: the product's
// loops as tiles of a launch, of its groups, and of the intrinsic. A module combines these
// functions with its choices of copies (product_copies.h), layouts (layout.h) and pipelining.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tunesmith/tiling/product_copies.h"
#include "tunesmith/tiling/sampled_tiles.h"
#include "tunesmith/tiling/tensor_tile.h"

namespace tunesmith {
inline namespace stable {

struct GroupTiles {
  SampledTiles rows;         // of the launch, of its groups, and in a group
  SampledTiles columns;      // likewise
  LoopRV reduction;          // over steps; replaced by `steps`
  SampledTiles steps;        // outside and inside of the groups' tiles
  std::vector<LoopRV> rest;  // the block's other loops, such as a batch
  LoopRV tile;               // the loop for tensorize()
};

namespace detail {

/// The loop over the columns of one call: two loops if they are in panels.
inline std::vector<LoopRV> cut_panels(Schedule& schedule, LoopRV columns, const TensorIntrinsic& product) {
  const std::vector<int64_t>& sums = product.operands.front().buffer->shape;
  return sums.size() == 2 ? std::vector<LoopRV>{columns}
                          : schedule.split(columns, {std::nullopt, sums.back()});
}

}  // namespace detail

/// Samples how rows and columns are distributed, with at most `max_tiles` calls along each in one group.
/// Throws ScheduleError if the block reduces over more than the intrinsic does, and as tile_for_intrinsic.
inline GroupTiles tile_for_groups(Schedule& schedule, BlockRV block, const TensorIntrinsic& product,
                                  int64_t max_tiles) {
  const std::vector<LoopRV> whole = schedule.get_loops(block);
  const bool in_panels = detail::cut_panels(schedule, whole[whole.size() - 2], product).size() > 1;
  const TensorTile unit = tile_for_intrinsic(schedule, block, product);
  for (const LoopRV& loop : unit.rest) {
    if (schedule.use_of(loop, block).reduction)
      refuse_block(schedule, block, "tile_for_groups", "the block reduces over more than the intrinsic does");
  }
  GroupTiles tiles;
  tiles.reduction = unit.outer.back();
  tiles.rest = unit.rest;
  tiles.tile = unit.tile;
  tiles.rows = sample_tiles(schedule, unit.outer[0], 3, max_tiles);
  // At most one tile lies along the remaining columns of a panel.
  const LoopRV columns = in_panels ? schedule.fuse({unit.outer[1], unit.outer[2]}) : unit.outer[1];
  tiles.columns = sample_tiles(schedule, columns, 3, max_tiles);
  const std::vector<LoopRV>& rows = tiles.rows.loops;
  schedule.reorder({rows[0], tiles.columns.loops[0], tiles.reduction, rows[1], tiles.columns.loops[1],
                    rows[2], tiles.columns.loops[2], tiles.tile});
  return tiles;
}

/// Initialises sums with the intrinsic `zero`. Call it before the reduction is cut: the number
/// of loops around the zeros would depend on whether one of its loops has one iteration.
inline void begin_with_zero(Schedule& schedule, BlockRV block, const GroupTiles& tiles,
                            const TensorIntrinsic& zero, std::string_view group_axis) {
  const size_t rank = zero.operands.front().buffer->shape.size();
  const std::vector<LoopRV> loops = schedule.get_loops(schedule.decompose_reduction(block, tiles.reduction));
  const size_t own = loops.size() - 4 - rank;  // of the group, its tiles, and a tile
  schedule.tensorize(loops[own + 4], zero.name);
  schedule.bind(schedule.fuse({loops[own], loops[own + 1]}), group_axis);
}

/// Samples the reduction steps that use one shared tile of the factors.
inline void cut_steps(Schedule& schedule, GroupTiles& tiles, int64_t max_tiles) {
  tiles.steps = sample_tiles(schedule, tiles.reduction, 2, max_tiles);
  const std::vector<LoopRV>& rows = tiles.rows.loops;
  const std::vector<LoopRV>& columns = tiles.columns.loops;
  schedule.reorder(
      {tiles.steps.loops[0], rows[1], columns[1], tiles.steps.loops[1], rows[2], columns[2], tiles.tile});
}

/// Samples the order of the launch's tiles: as they lie, or by groups of rows.
inline void bind_groups(Schedule& schedule, const GroupTiles& tiles, std::string_view launch_axis,
                        std::string_view group_axis) {
  std::vector<LoopRV> launch = tiles.rest;
  launch.push_back(tiles.rows.loops[0]);
  launch.push_back(tiles.columns.loops[0]);
  const LoopRV all = schedule.fuse(launch);
  schedule.bind(all, launch_axis);
  schedule.annotate(all, "tile_columns", tiles.columns.factors[0]);
  schedule.annotate(all, "tile_group", sample_one_of(schedule, {1, 2, 4, 8, 16}));
  schedule.bind(schedule.fuse({tiles.rows.loops[1], tiles.columns.loops[1]}), group_axis);
}

/// Tensorizes the block that copies the sums of `product`, by the groups that hold them.
inline void store_sums(Schedule& schedule, BlockRV store, const GroupTiles& tiles,
                       const TensorIntrinsic& product, const TensorIntrinsic& intrinsic,
                       std::string_view group_axis) {
  const int64_t height = product.operands.front().buffer->shape.front();
  const std::vector<LoopRV> loops = schedule.get_loops(store);
  const std::vector<LoopRV> rows =
      schedule.split(loops[loops.size() - 2], {tiles.rows.factors[1], tiles.rows.factors[2], IntArg(height)});
  const std::vector<LoopRV> columns = schedule.split(
      loops.back(), {tiles.columns.factors[1], tiles.columns.factors[2], IntArg(columns_of(product))});
  std::vector<LoopRV> order{rows[0], columns[0], rows[1], columns[1], rows[2]};
  for (const LoopRV& loop : detail::cut_panels(schedule, columns[2], product)) order.push_back(loop);
  schedule.reorder(order);
  schedule.bind(schedule.fuse({rows[0], columns[0]}), group_axis);
  schedule.tensorize(rows[2], intrinsic.name);
}

}  // namespace stable
}  // namespace tunesmith
