#include "tile.h"

#include <algorithm>

#include "tile_form.h"

namespace tunesmith {
namespace {

/// Of each iterator the loop that it is bound to.
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

/// The loops of the nest.
std::vector<LoopRV> make_tile(Schedule& schedule, BlockRV block, const TileForm& form,
                              const TileShape& shape) {
  const std::vector<LoopRV> loops = loops_by_iterator(schedule, block);
  const std::vector<LoopRV> columns =
      schedule.split(loops[form.columns], {std::nullopt, shape.vectors, shape.lanes});
  const std::vector<LoopRV> rows = schedule.split(loops[form.rows.back()], {std::nullopt, shape.rows});
  std::vector<LoopRV> order;
  for (const size_t other : form.others) order.push_back(loops[other]);
  if (shape.columns_outermost) order.push_back(columns[0]);
  for (size_t i = 0; i + 1 < form.rows.size(); ++i) order.push_back(loops[form.rows[i]]);
  order.push_back(rows[0]);
  if (!shape.columns_outermost) order.push_back(columns[0]);
  for (const size_t reduction : form.reductions) order.push_back(loops[reduction]);
  std::optional<LoopRV> neighbours;
  if (shape.depth > 1) {
    const std::vector<LoopRV> halves = schedule.split(order.back(), {std::nullopt, shape.depth});
    order.back() = halves[0];
    neighbours = halves[1];
  }
  std::optional<LoopRV> written_out;
  if (shape.steps) {
    const std::vector<LoopRV> steps = schedule.split(order.back(), {std::nullopt, *shape.steps});
    order.back() = steps[0];
    order.push_back(steps[1]);
    written_out = steps[1];
  }
  order.insert(order.end(), {rows[1], columns[1], columns[2]});
  if (neighbours) order.push_back(*neighbours);
  schedule.reorder(order);
  if (written_out) schedule.unroll(*written_out);
  return order;
}

}  // namespace

TileNest make_tiles(Schedule& schedule, const std::vector<BlockRV>& blocks, const TileShape& shape) {
  TileNest nest;
  std::vector<LoopRV> innermost;
  for (const BlockRV block : blocks) {
    TileForm form;
    match_tile_form(schedule.block(block), &form);
    nest.loops = form.others.size() + form.rows.size() + 1;
    nest.columns = shape.columns_outermost ? form.others.size() : nest.loops - 1;
    innermost.push_back(make_tile(schedule, block, form, shape).at(nest.loops - 1));
  }
  if (innermost.size() > 1) schedule.merge(innermost);
  return nest;
}

}  // namespace tunesmith
