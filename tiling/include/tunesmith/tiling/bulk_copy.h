// Tile copies that one iteration issues for all and that complete later (TensorIntrinsic::bulk_copy).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tunesmith/tiling/tensor_tile.h"

namespace tunesmith {
inline namespace stable {

/// tensorize_tiles for a copy, by the bulk copy in `unit` with the largest tile that divides it. Throws
/// ScheduleError if there is none, or if it does not compute the block's copy.
inline BlockRV tensorize_bulk_copy(Schedule& schedule, BlockRV copy,
                                   const std::vector<TensorIntrinsic>& unit) {
  const Buffer filled = schedule.writes_of(copy).front().buffer;
  const std::vector<LoopRV> loops = schedule.get_loops(copy);
  const TensorIntrinsic* largest = nullptr;
  for (const TensorIntrinsic& one : unit) {
    if (!one.bulk_copy || one.operands[0].buffer->dtype != filled->dtype) continue;
    const std::vector<int64_t> tile = one.extents(IterKind::Spatial);
    const bool larger =
        largest == nullptr || one.operands[0].buffer->elements() > largest->operands[0].buffer->elements();
    const bool divides =
        tile.size() <= loops.size() &&
        std::equal(tile.rbegin(), tile.rend(), loops.rbegin(), [&](int64_t extent, const LoopRV& loop) {
          return schedule.facts(loop).extent % extent == 0;
        });
    if (larger && divides) largest = &one;
  }
  if (largest == nullptr)
    refuse_block(schedule, copy, "tensorize_bulk_copy",
                 "no bulk copy has a tile that divides what is fetched");
  return tensorize_tiles(schedule, copy, *largest);
}

}  // namespace stable
}  // namespace tunesmith
