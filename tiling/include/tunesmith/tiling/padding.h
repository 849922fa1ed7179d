// Pads blocks whose extents are not multiples of a fixed tile.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "tunesmith/stable/schedule.h"

namespace tunesmith {
inline namespace stable {

/// Enlarges the block's iterators to multiples of a tile's extents (outermost first), as
/// pad_einsum does. Returns the blocks that copy inputs to larger buffers, which may be inlined
/// into later copies; none if all extents fit. Throws ScheduleError as pad_einsum does.
inline std::vector<BlockRV> pad_for_tile(Schedule& schedule, BlockRV block, std::vector<int64_t> spatial,
                                         std::vector<int64_t> reduction) {
  // Innermost first, like the block's loops.
  const std::vector<IterVar> iters = schedule.block(block).iters();
  std::vector<int64_t> multiples(iters.size(), 1);
  for (size_t i = iters.size(); i-- > 0;) {
    std::vector<int64_t>& left = iters[i].kind == IterKind::Reduction ? reduction : spatial;
    if (left.empty()) continue;
    multiples[i] = left.back();
    left.pop_back();
  }
  const bool fits = std::ranges::equal(
      iters, multiples, [](const IterVar& iter, int64_t multiple) { return iter.extent % multiple == 0; });
  if (fits) return {};
  std::set<std::string> before;
  for (const BlockFacts& known : schedule.blocks()) before.insert(known.name);
  schedule.pad_einsum(block, multiples);
  std::vector<BlockRV> copies = schedule.get_producers(block);
  std::erase_if(copies, [&](const BlockRV& copy) { return before.contains(schedule.block(copy).name); });
  return copies;
}

}  // namespace stable
}  // namespace tunesmith
