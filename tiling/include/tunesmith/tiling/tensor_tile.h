// What every module does that gives a block to a tensor intrinsic: cut the block's loops into tiles of the
// intrinsic's size.
#pragma once

#include <string_view>
#include <vector>

#include "tunesmith/intrinsics/tensor_intrinsic.h"
#include "tunesmith/trace/schedule.h"

namespace tunesmith {

struct TensorTile {
  /// The block's loops that were cut, the reduction's last, each at its outer half.
  std::vector<LoopRV> outer;
  /// The outermost loop of one tile, inside of all others: what tensorize() takes.
  LoopRV tile;
  /// The block's loops that were not cut, outermost first.
  std::vector<LoopRV> rest;
};

/// Cuts the innermost spatial and reduction loops of the block, as many as the intrinsic has of each, in its
/// order, and moves one tile inside. Extents must be multiples of the tile's. Throws ScheduleError where
/// there is no such intrinsic, or there are too few loops, and what split and reorder throw.
TensorTile tile_for_intrinsic(Schedule& schedule, BlockRV block, std::string_view intrinsic);

/// Enlarges the block's iterators to multiples of the intrinsic's, as pad_einsum does. Answers the blocks
/// that copy what the block reads to larger buffers, which may be inlined into copies of those; none where
/// all fits. Throws ScheduleError as pad_einsum does.
std::vector<BlockRV> pad_for_intrinsic(Schedule& schedule, BlockRV block, std::string_view intrinsic);

/// The same for tiles of these extents, outermost first.
std::vector<BlockRV> pad_for_tile(Schedule& schedule, BlockRV block, std::vector<int64_t> spatial,
                                  std::vector<int64_t> reduction);

/// tile_for_intrinsic and then tensorize: answers the calling block.
BlockRV tensorize_tiles(Schedule& schedule, BlockRV block, std::string_view intrinsic);

/// The same for a copy, by the bulk copy (TensorIntrinsic::bulk_copy) of the largest tile that divides it, of
/// those in `unit`. Throws ScheduleError where there is none, and where it cannot copy what the block does.
BlockRV tensorize_bulk_copy(Schedule& schedule, BlockRV copy, const std::vector<TensorIntrinsicPtr>& unit);

}  // namespace tunesmith
