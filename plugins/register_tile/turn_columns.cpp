#include "turn_columns.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <tunesmith/tiling/index_map.h>
#include <tunesmith/tiling/where_legal.h>

#include "iterator_use.h"
#include "panels.h"

namespace tunesmith {
namespace {

constexpr int64_t kMaxVector = 64;

/// Moves one of `rank` axes to the end; with several phases, moves its number within
/// a phase, and the phase takes its place. `behind` further axes follow unchanged.
std::string to_the_end(size_t rank, size_t axis, int64_t phases, size_t behind = 0) {
  const std::vector<std::string> axes = axis_names(rank + behind);
  std::vector<std::string> results(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(rank));
  if (phases > 1) {
    results[axis] = axes[axis] + " % " + std::to_string(phases);
    results.push_back(axes[axis] + " // " + std::to_string(phases));
  } else {
    results.erase(results.begin() + static_cast<std::ptrdiff_t>(axis));
    results.push_back(axes[axis]);
  }
  results.insert(results.end(), axes.end() - static_cast<std::ptrdiff_t>(behind), axes.end());
  return index_map(axes, results);
}

/// Each index is the iterator of the same number.
bool is_in_order(const Access& access) {
  for (size_t i = 0; i < access.indices.size(); ++i) {
    if (access.indices[i].iterator != i) return false;
  }
  return true;
}

/// Is the buffer computed elementwise, for this block only?
bool is_own_copy(Schedule& schedule, BlockRV block, const Buffer& buffer) {
  const Program program = schedule.program();
  return std::ranges::any_of(
      producers_of(program, schedule.block(block)), [&](const Pointer<Block>& producer) {
        return writes_of(*producer).front().buffer->name == buffer->name && is_elementwise(*producer) &&
               consumers_of(program, *producer).size() == 1;
      });
}

/// Reorders reads so that the dimension of the last spatial iterator, the result's last, is last in them,
/// too.
bool turn_reads(Schedule& schedule, BlockRV block) {
  for (size_t i = 0; i < read_accesses(schedule.block(block)).size(); ++i) {
    const Block view = schedule.block(block);
    const Access read = read_accesses(view)[i];
    const size_t columns = *write_accesses(view).front().indices.back().iterator;
    if (!read.uses(columns)) continue;
    const auto moving =
        std::ranges::find_if(read.indices, [&](const AccessIndex& index) { return index.uses(columns); });
    const auto dimension = static_cast<size_t>(moving - read.indices.begin());
    if (!steps_by_one(view, read.buffer->name, dimension, view.iters()[columns])) return false;
    const auto index = static_cast<int64_t>(i);
    if (!is_own_copy(schedule, block, read.buffer)) schedule.cache_read(block, index, "global");
    if (dimension + 1 == read.indices.size()) continue;
    schedule.transform_layout(block, "read", index, to_the_end(read.indices.size(), dimension, 1));
  }
  return true;
}

/// Producers that copy or pad read lines as vectors and write across
/// them: the choice between elements and padding is then per vector, too.
void copy_producers(Schedule& schedule, BlockRV block) {
  for (const BlockRV producer : schedule.get_producers(block)) {
    const Block view = schedule.block(producer);
    if (!is_elementwise(view) || read_accesses(view).size() != 1) continue;
    copy_in_squares(schedule, producer, 0);
    const LoopRV innermost = schedule.get_loops(producer).back();
    if (schedule.facts(innermost).extent <= kMaxVector) schedule.vectorize(innermost);
  }
}

/// False if rows and columns cannot be exchanged; changes up to that point, or up to a refused instruction,
/// remain. `rows`: the iterator that becomes the columns; `spatial`: the number of spatial iterators.
bool turn(Schedule& schedule, Group& group, int64_t period, size_t rows, size_t spatial) {
  const BlockRV block = schedule.get_block(group.blocks.front());
  const size_t reductions = schedule.block(block).iters().size() - spatial;
  if (!group.reader) group.reader = schedule.block(schedule.cache_write(block, 0, "global")).name;
  const BlockRV reader = schedule.get_block(*group.reader);
  if (schedule.block(reader).iters().size() != spatial) return false;
  for (const Access& access : read_accesses(schedule.block(reader))) {
    if (access.buffer->name == writes_of(schedule.block(block)).front().buffer->name && !is_in_order(access))
      return false;
  }
  schedule.transform_block_layout(reader, to_the_end(spatial, rows, period));
  schedule.transform_block_layout(block, to_the_end(spatial, rows, period, reductions));
  schedule.transform_layout(block, "write", 0, to_the_end(spatial, rows, period));
  if (!turn_reads(schedule, block)) return false;
  copy_producers(schedule, block);
  return true;
}

}  // namespace

std::optional<Schedule> turn_columns(Schedule schedule, Group& group, const TileForm& form, int64_t lanes) {
  if (group.blocks.size() > 1 || form.separate_columns) return std::nullopt;
  const BlockRV block = schedule.get_block(group.blocks.front());
  const std::vector<IterVar> iters = schedule.block(block).iters();
  const size_t rows = form.rows.back();
  const size_t spatial = form.rows.size() + form.others.size() + 1;
  if (iters[rows].extent % form.period != 0 || iters[rows].extent / form.period < lanes) return std::nullopt;
  if (!is_in_order(write_accesses(schedule.block(block)).front()) || form.columns + 1 != spatial)
    return std::nullopt;
  bool turned = false;
  where_legal(schedule, [&](Schedule& made) { turned = turn(made, group, form.period, rows, spatial); });
  return turned ? std::optional(std::move(schedule)) : std::nullopt;
}

}  // namespace tunesmith
