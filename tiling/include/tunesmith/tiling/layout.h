// Layouts of the buffer that a copy writes: tiles, panels, or rows that begin in different banks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tunesmith/stable/schedule.h"
#include "tunesmith/tiling/index_map.h"

namespace tunesmith {
inline namespace stable {

/// "(d0, d1, d2) -> (d0, d1 // 16, d2 // 16, d1 % 16, d2 % 16)", and for a tile of 64 x 2 x 64, whose columns
/// are in two panels, "(d0, d1, d2) -> (d0, d1 // 64, d2 // 128, d1 % 64, d2 % 128 // 64, d2 % 64)".
inline std::string map_to_tiles(size_t rank, const std::vector<int64_t>& tile) {
  const std::vector<std::string> axes = axis_names(rank);
  std::vector<std::string> results(axes.begin(), axes.end() - 2);
  std::vector<std::string> inner;
  for (size_t d = rank - 2; d < rank; ++d) {
    const bool is_row = d + 1 < rank;
    const bool in_panels = !is_row && tile.size() == 3;
    const int64_t width = is_row ? tile.front() : tile.back();
    const std::string whole = std::to_string(width * (in_panels ? tile[1] : 1));
    results.push_back(axes[d] + " // " + whole);
    if (in_panels) inner.push_back(axes[d] + " % " + whole + " // " + std::to_string(width));
    inner.push_back(axes[d] + " % " + std::to_string(width));
  }
  results.insert(results.end(), inner.begin(), inner.end());
  return index_map(axes, results);
}

/// "(d0, d1, d2) -> (d0, d2 // 64, d1, d2 % 64)".
inline std::string map_to_panels(size_t rank, int64_t width) {
  const std::vector<std::string> axes = axis_names(rank);
  std::vector<std::string> results(axes.begin(), axes.end() - 2);
  results.push_back(axes.back() + " // " + std::to_string(width));
  results.push_back(axes[rank - 2]);
  results.push_back(axes.back() + " % " + std::to_string(width));
  return index_map(axes, results);
}

/// Makes the tiles of the buffer that the block writes contiguous.
inline void lay_in_tiles(Schedule& schedule, BlockRV block, const std::vector<int64_t>& tile) {
  const size_t rank = schedule.writes_of(block).front().buffer->shape.size();
  schedule.transform_layout(block, "write", 0, map_to_tiles(rank, tile));
}

/// Stores columns of the buffer that the block writes in panels of this many elements, with swizzled rows.
inline void lay_in_panels(Schedule& schedule, BlockRV block, int64_t width) {
  const size_t rank = schedule.writes_of(block).front().buffer->shape.size();
  schedule.transform_layout(block, "write", 0, map_to_panels(rank, width));
  schedule.storage_swizzle(block, 0);
}

/// Makes the row stride an odd multiple of this many bytes, so that pieces of neighbouring rows lie in
/// different banks.
inline void space_out_rows(Schedule& schedule, BlockRV block, int64_t piece_bytes) {
  const int64_t bytes = schedule.writes_of(block).front().buffer->dtype.bytes();
  schedule.storage_align(block, 0, -2, 2 * piece_bytes / bytes, piece_bytes / bytes);
}

}  // namespace stable
}  // namespace tunesmith
