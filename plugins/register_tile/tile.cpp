#include "tile.h"

#include <algorithm>

#include <tunesmith/tiling/sampled_tiles.h>

#include "tile_form.h"

namespace tunesmith {
namespace {

/// No limit of the number of tiles in a block of columns.
constexpr int64_t kAnyTiles = int64_t{1} << 40;

/// The loop that each iterator is bound to.
std::vector<LoopRV> loops_by_iterator(Schedule& schedule, BlockRV block) {
  const std::vector<LoopRV> loops = schedule.get_loops(block);
  const Block view = schedule.block(block);
  const std::vector<Pointer<Loop>> above = loops_above(view);
  std::vector<LoopRV> own;
  for (const IterVar& iter : view.iters()) {
    const auto loop = std::ranges::find_if(
        above, [&](const Pointer<Loop>& each) { return each->var() == iter.binding.var(); });
    own.push_back(loops.at(static_cast<size_t>(loop - above.begin())));
  }
  return own;
}

bool is_one(const IntArg& number) { return number == IntArg(int64_t{1}); }

/// The loops of one block, as they are ordered.
struct Order {
  std::vector<LoopRV> outside;  // of the reductions
  size_t inside_block = 0;      // index of the first one inside a block of panels
  std::vector<LoopRV> reductions;
  std::vector<LoopRV> tile;         // unrolled
  std::vector<LoopRV> written_out;  // unrolled reductions
  std::vector<LoopRV> unit_rows;    // of a matrix unit
  std::vector<LoopRV> lanes;
  std::vector<LoopRV> neighbours;  // neighbours in the innermost reduction, within one call
};

/// The loops over others, columns and rows outside the tile.
void add_spatial(Schedule& schedule, const std::vector<LoopRV>& loops, const TileForm& form,
                 const TileShape& shape, Order& order) {
  for (const size_t other : form.others) order.outside.push_back(loops[other]);
  LoopRV all_columns = loops[form.columns];
  std::optional<LoopRV> group;
  if (schedule.facts(all_columns).extent > form.group_columns) {
    const std::vector<LoopRV> groups =
        schedule.split(all_columns, {std::nullopt, IntArg(form.group_columns)});
    group = groups[0];
    all_columns = groups[1];
  }
  const bool groups_inside = shape.order == ColumnOrder::Innermost;
  if (group && !groups_inside) order.outside.push_back(*group);
  const std::vector<LoopRV> columns =
      schedule.split(all_columns, {std::nullopt, shape.vectors, IntArg(shape.lanes)});
  LoopRV inner_columns = columns[0];
  if (shape.panels_of_block) {
    const std::vector<LoopRV> blocks =
        schedule.split(columns[0], {std::nullopt, IntArg(*shape.panels_of_block)});
    order.outside.push_back(blocks[0]);
    order.inside_block = order.outside.size();
    order.outside.push_back(blocks[1]);
  } else if (shape.order == ColumnOrder::Outermost) {
    order.outside.push_back(columns[0]);
  }
  if (shape.order == ColumnOrder::Blocks) {
    const std::vector<LoopRV> blocks = sample_tiles(schedule, columns[0], 2, kAnyTiles).loops;
    order.outside.push_back(blocks[0]);
    inner_columns = blocks[1];
  }
  for (size_t i = 0; i < form.rows.size(); ++i) {
    const size_t from_last = form.rows.size() - 1 - i;
    const IntArg& size = from_last == 0 ? shape.rows : shape.outer_rows;
    if (from_last > 1 || (from_last == 1 && is_one(size))) {
      order.outside.push_back(loops[form.rows[i]]);
      continue;
    }
    std::vector<std::optional<IntArg>> factors{std::nullopt, size};
    if (from_last == 0 && shape.unit_rows > 1) factors.emplace_back(shape.unit_rows);
    const std::vector<LoopRV> parts = schedule.split(loops[form.rows[i]], factors);
    order.outside.push_back(parts[0]);
    order.tile.push_back(parts[1]);
    order.unit_rows.assign(parts.begin() + 2, parts.end());
  }
  if (group && groups_inside) order.outside.push_back(*group);
  if (shape.order != ColumnOrder::Outermost) order.outside.push_back(inner_columns);
  order.tile.push_back(columns[1]);
  order.lanes.push_back(columns[2]);
}

void add_reductions(Schedule& schedule, const std::vector<LoopRV>& loops, const TileForm& form,
                    const TileShape& shape, Order& order) {
  for (const size_t reduction : form.reductions) order.reductions.push_back(loops[reduction]);
  if (shape.depth > 1) {
    std::vector<std::optional<IntArg>> factors{std::nullopt};
    if (shape.unit_rows > 1) factors.emplace_back(shape.unit_steps);
    factors.emplace_back(shape.depth);
    const std::vector<LoopRV> parts = schedule.split(order.reductions.back(), factors);
    order.reductions.back() = parts[0];
    order.neighbours.assign(parts.begin() + 1, parts.end());
  }
  const bool is_one_part = shape.part == schedule.facts(order.reductions.back()).extent;
  if (shape.part > 0 && !is_one_part) {
    const std::vector<LoopRV> parts =
        schedule.split(order.reductions.back(), {std::nullopt, IntArg(shape.part)});
    order.reductions.back() = parts[0];
    order.reductions.push_back(parts[1]);
  } else if (shape.part == 0 && shape.steps) {
    const std::vector<LoopRV> steps = schedule.split(order.reductions.back(), {std::nullopt, shape.steps});
    order.reductions.back() = steps[0];
    order.reductions.push_back(steps[1]);
    order.written_out.push_back(steps[1]);
  }
  const auto whole = static_cast<std::ptrdiff_t>(shape.whole_reductions);
  order.written_out.insert(order.written_out.end(), order.reductions.end() - whole, order.reductions.end());
}

/// Loops of a block, outermost first.
struct Nest {
  std::vector<LoopRV> outside;  // of the reductions
  size_t steps = 0;             // reductions behind them that are not written out
};

Nest make_tile(Schedule& schedule, BlockRV block, const TileForm& form, const TileShape& shape) {
  const std::vector<LoopRV> loops = loops_by_iterator(schedule, block);
  Order order;
  add_spatial(schedule, loops, form, shape, order);
  add_reductions(schedule, loops, form, shape, order);
  std::vector<LoopRV> parts;
  if (shape.panels_of_block) {
    parts.assign(order.reductions.begin(), order.reductions.end() - 1);
    order.reductions.erase(order.reductions.begin(), order.reductions.end() - 1);
    const auto place = order.outside.begin() + static_cast<std::ptrdiff_t>(order.inside_block);
    order.outside.insert(place, parts.begin(), parts.end());
  }
  std::vector<LoopRV> all = order.outside;
  for (const auto* inner :
       {&order.reductions, &order.tile, &order.unit_rows, &order.lanes, &order.neighbours})
    all.insert(all.end(), inner->begin(), inner->end());
  schedule.reorder(all);
  if (parts.size() > 1) schedule.fuse(parts);
  for (const LoopRV loop : order.written_out) schedule.unroll(loop);
  for (const LoopRV loop : order.tile) schedule.unroll(loop);
  return {order.outside, order.reductions.size() - order.written_out.size()};
}

}  // namespace

TileNest make_tiles(Schedule& schedule, const std::vector<BlockRV>& blocks, const TileShape& shape) {
  TileNest nest;
  std::vector<LoopRV> innermost;
  for (const BlockRV block : blocks) {
    TileForm form;
    const Block view = schedule.block(block);
    match_tile_form(view, &form);
    const size_t batch = form.others.size() + (has_groups(form, view) ? 1 : 0);
    const size_t of_columns = shape.panels_of_block ? 3 : shape.order == ColumnOrder::Blocks ? 2 : 1;
    nest.loops = batch + form.rows.size() + of_columns;
    nest.columns = shape.order == ColumnOrder::Innermost ? nest.loops - 1 : batch;
    nest.parts = shape.panels_of_block ? nest.columns + 1 : nest.loops;
    const Nest made = make_tile(schedule, block, form, shape);
    nest.steps = made.steps;
    innermost.push_back(made.outside.back());
  }
  if (innermost.size() > 1) schedule.merge(innermost);
  return nest;
}

BlockRV sum_in_parts(Schedule& schedule, BlockRV block, const TileShape& shape, const TileNest& nest) {
  const BlockRV parts = schedule.rfactor(schedule.get_loops(block).at(nest.parts), 0);
  schedule.set_scope(parts, 0, "local");
  const std::vector<LoopRV> loops = schedule.get_loops(block);
  const size_t shared = std::max(nest.loops, nest.parts + 1);
  for (size_t i = shared; i + 1 < loops.size(); ++i) schedule.unroll(loops[i]);
  schedule.merge({schedule.get_loops(parts).at(shared - 1), loops.at(shared - 1)});
  if (shape.steps) {
    const LoopRV terms = schedule.get_loops(parts).at(shared);
    schedule.unroll(schedule.split(terms, {std::nullopt, shape.steps})[1]);
  }
  return parts;
}

}  // namespace tunesmith
