#include "tunesmith/tiling/tensor_tile.h"

#include <algorithm>
#include <set>

#include "tunesmith/analysis/blocks.h"
#include "tunesmith/analysis/schedule_error.h"
#include "tunesmith/intrinsics/tensor_intrinsic.h"
#include "tunesmith/ir/regions.h"

namespace tunesmith {
namespace {

TensorIntrinsicPtr intrinsic_named(const Schedule& schedule, BlockRV block, std::string_view name) {
  TensorIntrinsicPtr found = schedule.intrinsics().find(name);
  if (found == nullptr)
    throw ScheduleError("tile_for_intrinsic", "there is no tensor intrinsic of this name", std::string(name),
                        schedule.program(), &schedule.block(block));
  return found;
}

/// Extents of the intrinsic's iterators, spatial ones or those of the reduction, outermost first.
std::vector<int64_t> extents_of(const TensorIntrinsic& intrinsic, IterKind kind) {
  std::vector<int64_t> extents;
  for (const IterVar& iter : intrinsic.block().iters) {
    if (iter.kind == kind) extents.push_back(iter.extent);
  }
  return extents;
}

/// Loops around the block that run over iterators of one kind, as many as `count`, the innermost.
std::vector<LoopRV> innermost(const Schedule& schedule, BlockRV block, const std::vector<LoopRV>& loops,
                              IterKind kind, size_t count) {
  std::vector<LoopRV> found;
  for (const LoopRV& loop : loops) {
    const LoopUse use = use_of(schedule.loop(loop), schedule.block(block));
    if (kind == IterKind::Reduction ? use.reduction : use.spatial) found.push_back(loop);
  }
  if (found.size() < count)
    throw ScheduleError("tile_for_intrinsic", "the block has fewer loops than the intrinsic",
                        schedule.block(block).name, schedule.program(), &schedule.block(block));
  found.erase(found.begin(), found.end() - static_cast<std::ptrdiff_t>(count));
  return found;
}

}  // namespace

TensorTile tile_for_intrinsic(Schedule& schedule, BlockRV block, std::string_view name) {
  const TensorIntrinsicPtr intrinsic = intrinsic_named(schedule, block, name);
  const std::vector<LoopRV> loops = schedule.get_loops(block);
  // All are found before the first is cut, and exists no more.
  std::vector<LoopRV> whole;
  std::vector<int64_t> extents;
  for (const IterKind kind : {IterKind::Spatial, IterKind::Reduction}) {
    const std::vector<int64_t> of_kind = extents_of(*intrinsic, kind);
    const std::vector<LoopRV> found = innermost(schedule, block, loops, kind, of_kind.size());
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

std::vector<BlockRV> pad_for_intrinsic(Schedule& schedule, BlockRV block, std::string_view name) {
  const TensorIntrinsicPtr intrinsic = intrinsic_named(schedule, block, name);
  return pad_for_tile(schedule, block, extents_of(*intrinsic, IterKind::Spatial),
                      extents_of(*intrinsic, IterKind::Reduction));
}

std::vector<BlockRV> pad_for_tile(Schedule& schedule, BlockRV block, std::vector<int64_t> spatial,
                                  std::vector<int64_t> reduction) {
  // Innermost first, as the block's loops are taken.
  const std::vector<IterVar> iters = schedule.block(block).iters;
  std::vector<int64_t> multiples(iters.size(), 1);
  for (size_t i = iters.size(); i-- > 0;) {
    std::vector<int64_t>& left = iters[i].kind == IterKind::Reduction ? reduction : spatial;
    if (left.empty()) continue;
    multiples[i] = left.back();
    left.pop_back();
  }
  std::set<std::string> before;
  for (const Block* known : schedule.program().blocks()) before.insert(known->name);
  const bool fits = std::ranges::equal(
      iters, multiples, [](const IterVar& iter, int64_t multiple) { return iter.extent % multiple == 0; });
  if (fits) return {};
  schedule.pad_einsum(block, multiples);
  std::vector<BlockRV> copies = schedule.get_producers(block);
  std::erase_if(copies, [&](const BlockRV& copy) { return before.contains(schedule.block(copy).name); });
  return copies;
}

BlockRV tensorize_tiles(Schedule& schedule, BlockRV block, std::string_view intrinsic) {
  return schedule.tensorize(tile_for_intrinsic(schedule, block, intrinsic).tile, intrinsic);
}

BlockRV tensorize_bulk_copy(Schedule& schedule, BlockRV copy, const std::vector<TensorIntrinsicPtr>& unit) {
  const Buffer filled = writes_of(schedule.block(copy)).front().buffer;
  const std::vector<LoopRV> loops = schedule.get_loops(copy);
  const TensorIntrinsic* largest = nullptr;
  for (const TensorIntrinsicPtr& one : unit) {
    if (!one->bulk_copy || one->operands[0].buffer->dtype != filled->dtype) continue;
    const std::vector<int64_t> tile = extents_of(*one, IterKind::Spatial);
    const bool larger =
        largest == nullptr || one->operands[0].buffer->elements() > largest->operands[0].buffer->elements();
    const bool divides =
        tile.size() <= loops.size() &&
        std::equal(tile.rbegin(), tile.rend(), loops.rbegin(), [&](int64_t extent, const LoopRV& loop) {
          return schedule.loop(loop).const_extent() % extent == 0;
        });
    if (larger && divides) largest = one.get();
  }
  if (largest == nullptr)
    throw ScheduleError("tensorize_bulk_copy", "no bulk copy has a tile that divides what is fetched",
                        schedule.block(copy).name, schedule.program(), &schedule.block(copy));
  return tensorize_tiles(schedule, copy, largest->name);
}

}  // namespace tunesmith
