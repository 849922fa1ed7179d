#include "use_unit.h"

#include <string>
#include <vector>

#include <tunesmith/tiling/index_map.h>

#include "tile_form.h"

namespace tunesmith {
namespace {

/// Makes each tile of sums contiguous, so that a register can hold it.
void lay_in_tiles(Schedule& schedule, BlockRV block, const Unit& unit) {
  const Block view = schedule.block(block);
  TileForm form;
  match_tile_form(view, &form);
  const Access written = write_accesses(view).front();
  const std::vector<std::string> axes = axis_names(written.indices.size());
  std::vector<std::string> tiles = axes, elements;
  const auto cut = [&](size_t axis, int64_t size) {
    tiles[axis] = axes[axis] + " // " + std::to_string(size);
    elements.push_back(axes[axis] + " % " + std::to_string(size));
  };
  for (size_t axis = 0; axis < axes.size(); ++axis) {
    if (written.indices[axis].iterator == form.rows.back()) cut(axis, unit.rows);
  }
  cut(axes.size() - 1, unit.lanes);
  tiles.insert(tiles.end(), elements.begin(), elements.end());
  schedule.transform_layout(block, "write", 0, index_map(axes, tiles));
}

}  // namespace

void use_unit(Schedule& schedule, BlockRV block, const TileNest& nest, const TileShape& shape,
              const Unit& unit) {
  if (unit.is_matrix_unit()) lay_in_tiles(schedule, block, unit);
  const std::vector<LoopRV> loops = schedule.get_loops(block);
  const BlockRV zero = schedule.decompose_reduction(block, loops.at(nest.loops));
  schedule.tensorize(loops.at(loops.size() - shape.loops_of_unit()), unit.name);
  if (unit.is_matrix_unit()) schedule.tensorize(schedule.get_loops(zero).end()[-2], unit.zero);
}

void store_tiles(Schedule& schedule, BlockRV copy, const TileNest& nest, const Unit& unit) {
  if (unit.store.empty()) return;
  const std::vector<LoopRV> loops = schedule.get_loops(copy);
  if (loops.size() < nest.loops + 2) return;
  const std::vector<LoopRV> rows = schedule.split(loops.end()[-2], {std::nullopt, IntArg(unit.rows)});
  const std::vector<LoopRV> columns = schedule.split(loops.back(), {std::nullopt, IntArg(unit.lanes)});
  schedule.reorder({rows[0], columns[0], rows[1], columns[1]});
  schedule.tensorize(rows[1], unit.store);
  schedule.unroll(rows[0]);
  schedule.unroll(columns[0]);
}

}  // namespace tunesmith
