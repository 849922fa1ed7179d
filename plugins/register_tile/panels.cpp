#include "panels.h"

#include <algorithm>
#include <array>
#include <string>

#include <tunesmith/tiling/index_map.h>

#include "tile_form.h"

namespace tunesmith {
namespace {

/// Elements in a line of a square, the first that divides the lines:
/// several cache lines, so that the processor prefetches, or one.
constexpr std::array<int64_t, 2> kSides{64, 16};

/// The copy of a whole buffer, with its dimensions and its loops in this order.
void put_in_order(Schedule& schedule, BlockRV copy, const std::vector<size_t>& dimensions) {
  schedule.transform_layout(copy, "write", 0, projection(axis_names(dimensions.size()), dimensions));
  const std::vector<LoopRV> loops = schedule.get_loops(copy);
  std::vector<LoopRV> order;
  for (const size_t dimension : dimensions) order.push_back(loops.at(dimension));
  schedule.reorder(order);
}

}  // namespace

std::vector<BlockRV> copy_into_panels(Schedule& schedule, BlockRV block) {
  const Block view = schedule.block(block);
  const std::vector<std::string> axes = axis_names(view.iters().size());
  TileForm form;
  match_tile_form(view, &form);
  std::vector<BlockRV> copies;
  for (const PackedRead& read : packed_reads(view, form)) {
    if (read.plain && !read.in_order) {
      copies.push_back(
          schedule.reindex_cache_read(block, read.index, "global", projection(axes, read.order)));
      continue;
    }
    copies.push_back(schedule.cache_read(block, read.index, "global"));
    if (!read.in_order) put_in_order(schedule, copies.back(), read.dimensions);
  }
  return copies;
}

void copy_in_squares(Schedule& schedule, BlockRV copy, size_t outside) {
  const std::vector<LoopRV> loops = schedule.get_loops(copy);
  const Block view = schedule.block(copy);
  const std::optional<size_t> columns = write_accesses(view).front().indices.back().iterator;
  const std::optional<size_t> steps = read_accesses(view).front().indices.back().iterator;
  if (loops.size() != outside + view.iters().size() || !columns || !steps || columns == steps) return;
  const LoopRV along_lines = loops[outside + *steps];
  const int64_t extent = schedule.facts(along_lines).extent;
  const auto side = std::ranges::find_if(kSides, [&](int64_t each) { return extent % each == 0; });
  if (side == kSides.end()) return;
  const std::vector<LoopRV> halves = schedule.split(along_lines, {std::nullopt, *side});
  schedule.reorder({halves[0], loops[outside + *columns], halves[1]});
}

void lay_blocks_of_panels(Schedule& schedule, BlockRV copy, int64_t width, int64_t panels, int64_t terms) {
  const size_t rank = schedule.writes_of(copy).front().buffer->shape.size();
  const std::vector<std::string> axes = axis_names(rank);
  const std::string& column = axes.back();
  const std::string& term = axes[rank - 2];
  const std::string of_block = std::to_string(width * panels);
  const std::string part = std::to_string(terms);
  const std::string panel = std::to_string(width);
  std::vector<std::string> results{column + " // " + of_block};
  results.insert(results.end(), axes.begin(), axes.end() - 2);
  results.insert(results.end(), {term + " // " + part, column + " % " + of_block + " // " + panel,
                                 term + " % " + part, column + " % " + panel});
  schedule.transform_layout(copy, "write", 0, index_map(axes, results));
}

void lay_panel_by_panel(Schedule& schedule, BlockRV copy, int64_t width, int64_t depth) {
  const size_t rank = schedule.writes_of(copy).front().buffer->shape.size();
  const std::vector<std::string> axes = axis_names(rank);
  std::vector<std::string> results{axes.back() + " // " + std::to_string(width)};
  results.insert(results.end(), axes.begin(), axes.end() - 1);
  results.push_back(axes.back() + " % " + std::to_string(width));
  if (depth > 1) {
    results[rank - 1] = axes[rank - 2] + " // " + std::to_string(depth);
    results.push_back(axes[rank - 2] + " % " + std::to_string(depth));
  }
  schedule.transform_layout(copy, "write", 0, index_map(axes, results));
  const std::vector<LoopRV> loops = schedule.get_loops(copy);
  const std::vector<LoopRV> columns = schedule.split(loops.back(), {std::nullopt, width});
  std::vector<LoopRV> order{columns[0]};
  order.insert(order.end(), loops.begin(), loops.end() - 1);
  order.push_back(columns[1]);
  schedule.reorder(order);
}

}  // namespace tunesmith
