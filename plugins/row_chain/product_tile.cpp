#include "product_tile.h"

#include <algorithm>
#include <iterator>

#include <tunesmith/stable/analysis.h>
#include <tunesmith/tiling/index_map.h>
#include <tunesmith/tiling/layout.h>
#include <tunesmith/tiling/sampled_tiles.h>

namespace tunesmith {
namespace {

/// Inlined later into the copy in panels, and not into
/// the product, which would read in another order.
bool is_computed_before(const Program& program, const Block& product, const Buffer& operand) {
  return std::ranges::any_of(producers_of(program, product), [&](const Pointer<Block>& producer) {
    return is_elementwise(*producer) && writes_of(*producer).front().buffer->name == operand->name;
  });
}

}  // namespace

BlockRV tile_product(Schedule& schedule, BlockRV product, LoopRV at, const TileShape& shape,
                     const std::vector<int64_t>& steps) {
  schedule.compute_at(product, at);
  std::vector<LoopRV> spatial;
  std::optional<LoopRV> reduction;
  const LoopId place = schedule.location(at);
  bool inside = false;
  for (const LoopRV& loop : schedule.get_loops(product)) {
    if (inside) {
      if (schedule.use_of(loop, product).reduction) {
        reduction = loop;
      } else {
        spatial.push_back(loop);
      }
    }
    inside = inside || schedule.location(loop) == place;
  }
  if (!reduction || spatial.empty()) throw InternalError("a product keeps its reduction and its columns");
  const LoopRV columns = spatial.back();
  spatial.pop_back();
  const std::vector<LoopRV> lanes = schedule.split(columns, {std::nullopt, shape.lanes});
  std::vector<int64_t> shorter;  // than the reduction
  const int64_t extent = schedule.facts(*reduction).extent;
  std::ranges::copy_if(steps, std::back_inserter(shorter), [&](int64_t count) { return count < extent; });
  std::vector<LoopRV> order{*reduction};
  if (!shorter.empty()) order = schedule.split(*reduction, {std::nullopt, sample_one_of(schedule, shorter)});
  const LoopRV outermost = order.front();
  order.insert(order.end(), spatial.begin(), spatial.end());
  order.insert(order.end(), lanes.begin(), lanes.end());
  schedule.reorder(order);
  const BlockRV init = schedule.decompose_reduction(product, outermost);
  const auto unroll_tile = [&](BlockRV block, size_t outside) {
    const std::vector<LoopRV> loops = schedule.get_loops(block);
    for (size_t i = loops.size() - outside; i + 1 < loops.size(); ++i) schedule.unroll(loops[i]);
    schedule.vectorize(loops.back());
  };
  unroll_tile(product, spatial.size() + (shorter.empty() ? 2 : 3));
  unroll_tile(init, spatial.size() + 2);
  return init;
}

void finish_writer(Schedule& schedule, LoopRV rows, LoopRV columns) {
  schedule.unroll(rows);
  schedule.vectorize(columns);
}

std::optional<BlockRV> lay_operand(Schedule& schedule, BlockRV product, const std::vector<size_t>& rows,
                                   const TileShape& shape) {
  const Block view = schedule.block(product);
  const std::optional<ProductForm> form = match_product(view, rows);
  if (!form || (form->in_order && !is_computed_before(schedule.program(), view, form->operand)))
    return std::nullopt;
  const Access read = read_accesses(view)[form->column_read];
  const std::vector<IterVar> iters = view.iters();
  std::vector<size_t> order;
  for (size_t i = 0; i < iters.size(); ++i) {
    if (read.uses(i) && i != form->column) order.push_back(i);
  }
  order.push_back(form->column);
  const BlockRV panels = schedule.reindex_cache_read(product, static_cast<int64_t>(form->column_read),
                                                     "global", projection(axis_names(iters.size()), order));
  const std::vector<LoopRV> loops = schedule.get_loops(panels);  // one for each iterator of the copy
  std::vector<LoopRV> outer;
  const Access written = schedule.writes_of(panels).front();
  for (const AccessIndex& index : written.indices) {
    if (!index.iterator) throw InternalError("a copy in another order writes element by element");
    outer.push_back(loops[*index.iterator]);
  }
  const int64_t width = shape.columns();
  if (iters[form->column].extent % width == 0)
    schedule.transform_layout(panels, "write", 0, map_to_panels(order.size(), width));
  const std::vector<LoopRV> halves = schedule.split(outer.back(), {std::nullopt, width});
  outer.pop_back();
  const LoopRV reduction = outer.back();
  outer.back() = halves[0];
  std::vector<LoopRV> nest = outer;
  nest.insert(nest.end(), {reduction, halves[1]});
  schedule.reorder(nest);
  schedule.vectorize(halves[1]);
  schedule.parallel(outer.size() > 1 ? schedule.fuse(outer) : outer.front());
  return panels;
}

}  // namespace tunesmith
