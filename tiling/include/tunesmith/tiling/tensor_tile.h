// Common steps of modules that tensorize a block: split
// the block's loops into tiles of the intrinsic's size.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tunesmith/stable/schedule.h"

namespace tunesmith {
inline namespace stable {

/// Throws a ScheduleError that names the block.
[[noreturn]] inline void refuse_block(const Schedule& schedule, BlockRV block, const std::string& primitive,
                                      const std::string& reason) {
  throw ScheduleError(primitive, reason, schedule.block(block).name);
}

/// The intrinsic that tensorize() finds under this name. Throws ScheduleError if there is none.
inline TensorIntrinsic require_intrinsic(const Schedule& schedule, std::string_view name) {
  const std::optional<TensorIntrinsic> found = schedule.intrinsic(name);
  if (!found) throw ScheduleError("tile_for_intrinsic", "unknown tensor intrinsic", std::string(name));
  return *found;
}

struct TensorTile {
  /// The outer parts of the block's split loops, the reduction's last.
  std::vector<LoopRV> outer;
  /// The outermost loop of one tile, inside all others: the argument of tensorize().
  LoopRV tile;
  /// The block's other loops, outermost first.
  std::vector<LoopRV> rest;
};

namespace detail {

/// The innermost `count` loops around the block that run over iterators of one kind.
inline std::vector<LoopRV> innermost_of(const Schedule& schedule, BlockRV block,
                                        const std::vector<LoopRV>& loops, IterKind kind, size_t count) {
  std::vector<LoopRV> found;
  for (const LoopRV& loop : loops) {
    const LoopUse use = schedule.use_of(loop, block);
    if (kind == IterKind::Reduction ? use.reduction : use.spatial) found.push_back(loop);
  }
  if (found.size() < count)
    refuse_block(schedule, block, "tile_for_intrinsic", "the block has fewer loops than the intrinsic");
  found.erase(found.begin(), found.end() - static_cast<std::ptrdiff_t>(count));
  return found;
}

}  // namespace detail

/// Splits the innermost spatial and reduction loops of the block, as many as the intrinsic
/// has of each, in its order, and moves one tile inside. Extents must be multiples of the
/// tile's. Throws ScheduleError if there are too few loops, or if split or reorder throws.
inline TensorTile tile_for_intrinsic(Schedule& schedule, BlockRV block, const TensorIntrinsic& intrinsic) {
  const std::vector<LoopRV> loops = schedule.get_loops(block);
  // All are looked up before the first is split, which invalidates it.
  std::vector<LoopRV> whole;
  std::vector<int64_t> extents;
  for (const IterKind kind : {IterKind::Spatial, IterKind::Reduction}) {
    const std::vector<int64_t> of_kind = intrinsic.extents(kind);
    const std::vector<LoopRV> found = detail::innermost_of(schedule, block, loops, kind, of_kind.size());
    whole.insert(whole.end(), found.begin(), found.end());
    extents.insert(extents.end(), of_kind.begin(), of_kind.end());
  }
  TensorTile tile;
  std::vector<LoopRV> inner;
  for (size_t i = 0; i < whole.size(); ++i) {
    const std::vector<LoopRV> halves = schedule.split(whole[i], {std::nullopt, extents[i]});
    tile.outer.push_back(halves[0]);
    inner.push_back(halves[1]);
  }
  for (const LoopRV& loop : loops) {
    if (std::ranges::find(whole, loop) == whole.end()) tile.rest.push_back(loop);
  }
  std::vector<LoopRV> order = tile.outer;
  order.insert(order.end(), inner.begin(), inner.end());
  schedule.reorder(order);
  tile.tile = inner.front();
  return tile;
}

/// tile_for_intrinsic and then tensorize; returns the calling block.
inline BlockRV tensorize_tiles(Schedule& schedule, BlockRV block, const TensorIntrinsic& intrinsic) {
  return schedule.tensorize(tile_for_intrinsic(schedule, block, intrinsic).tile, intrinsic.name);
}

}  // namespace stable
}  // namespace tunesmith
