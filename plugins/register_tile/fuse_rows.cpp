#include "fuse_rows.h"

#include <algorithm>
#include <string>
#include <vector>

#include <tunesmith/tiling/index_map.h>
#include <tunesmith/tiling/where_legal.h>

namespace tunesmith {
namespace {

/// Consecutive iterators of a block, or dimensions of a buffer.
struct Run {
  size_t first = 0;
  size_t count = 0;
};

/// Where the access uses the run, as whole consecutive dimensions; `uses`: it uses the run at all.
struct RunUse {
  bool uses = false;
  std::optional<size_t> first_dimension;
};

RunUse use_of(const Access& access, const std::vector<IterVar>& iters, const Run& run) {
  RunUse found;
  for (size_t i = 0; i < run.count; ++i) found.uses = found.uses || access.uses(run.first + i);
  if (!found.uses) return found;
  const auto first = std::ranges::find_if(
      access.indices, [&](const AccessIndex& index) { return index.iterator == run.first; });
  const auto at = static_cast<size_t>(first - access.indices.begin());
  if (at + run.count > access.indices.size()) return found;
  for (size_t d = 0; d < access.indices.size(); ++d) {
    const bool inside = d >= at && d < at + run.count;
    const AccessIndex& index = access.indices[d];
    if (inside &&
        (index.iterator != run.first + d - at || access.buffer->shape[d] != iters[run.first + d - at].extent))
      return found;
    for (size_t i = 0; !inside && i < run.count; ++i) {
      if (index.uses(run.first + i)) return found;
    }
  }
  found.first_dimension = at;
  return found;
}

bool can_fuse(const Block& block, const Run& run) {
  const std::vector<IterVar> iters = block.iters();
  std::vector<Access> all = read_accesses(block);
  const std::vector<Access> written = write_accesses(block);
  all.insert(all.end(), written.begin(), written.end());
  return std::ranges::all_of(all, [&](const Access& access) {
    const RunUse use = use_of(access, iters, run);
    return !use.uses || use.first_dimension;
  });
}

/// "(d0, d1, d2) -> (d0 * 7 + d1, d2)" of a run of dimensions with these extents.
std::string fusing_map(const std::vector<int64_t>& extents, const Run& run) {
  const std::vector<std::string> axes = axis_names(extents.size());
  std::vector<std::string> results;
  for (size_t d = 0; d < extents.size(); ++d) {
    if (d > run.first && d < run.first + run.count)
      results.back() = "(" + results.back() + ") * " + std::to_string(extents[d]) + " + " + axes[d];
    else
      results.push_back(axes[d]);
  }
  return index_map(axes, results);
}

void fuse_iterators(Schedule& schedule, BlockRV block, const Run& run) {
  std::vector<int64_t> extents;
  for (const IterVar& iter : schedule.block(block).iters()) extents.push_back(iter.extent);
  schedule.transform_block_layout(block, fusing_map(extents, run));
}

/// The reader's iterators that read what the block's run writes at `dimension`.
std::optional<Run> run_of_reader(const Block& reader, const Buffer& read, size_t dimension, size_t count) {
  for (const Access& access : read_accesses(reader)) {
    if (access.buffer->name != read->name) continue;
    if (!access.indices[dimension].iterator) return std::nullopt;
    return Run{*access.indices[dimension].iterator, count};
  }
  return std::nullopt;
}

/// The last rows, as many as are consecutive and can be fused; nothing if fewer than two.
std::optional<Run> run_of_rows(const Schedule& schedule, const Group& group, const TileForm& form) {
  const size_t last = form.rows.back();
  for (size_t count = form.rows.size(); count > 1; --count) {
    const size_t first = form.rows[form.rows.size() - count];
    if (last - first + 1 != count) continue;
    const Run run{first, count};
    if (std::ranges::all_of(group.blocks, [&](const std::string& name) {
          return can_fuse(*schedule.program().find_block(name), run);
        }))
      return run;
  }
  return std::nullopt;
}

/// False if the rows cannot be fused. Changes up to
/// that point, or up to a refused instruction, remain.
bool fuse(Schedule& schedule, Group& group, const Run& run) {
  if (!group.reader)
    group.reader =
        schedule.block(schedule.cache_write(schedule.get_block(group.blocks.front()), 0, "global")).name;
  for (const std::string& name : group.blocks) {
    const BlockRV block = schedule.get_block(name);
    const Block view = schedule.block(block);
    const Access written = write_accesses(view).front();
    const Run dimensions{*use_of(written, view.iters(), run).first_dimension, run.count};
    const BlockRV reader = schedule.get_block(*group.reader);
    if (name == group.blocks.front()) {
      const Block reading = schedule.block(reader);
      const std::optional<Run> of_reader =
          run_of_reader(reading, written.buffer, dimensions.first, run.count);
      if (!of_reader || !can_fuse(reading, *of_reader)) return false;
      fuse_iterators(schedule, reader, *of_reader);
    }
    fuse_iterators(schedule, block, run);
    schedule.transform_layout(block, "write", 0, fusing_map(written.buffer->shape, dimensions));
  }
  return true;
}

}  // namespace

std::optional<Schedule> fuse_rows(Schedule schedule, Group& group, const TileForm& form) {
  if (form.separate_columns || form.period > 1) return std::nullopt;
  const std::optional<Run> run = run_of_rows(schedule, group, form);
  bool fused = false;
  if (run) where_legal(schedule, [&](Schedule& made) { fused = fuse(made, group, *run); });
  return fused ? std::optional(std::move(schedule)) : std::nullopt;
}

}  // namespace tunesmith
