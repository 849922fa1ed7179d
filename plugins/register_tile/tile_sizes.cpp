#include "tile_sizes.h"

#include <algorithm>
#include <iterator>

namespace tunesmith {
namespace {

/// The maximum tile rows in each of two directions for
/// separate columns: all taps of all rows are unrolled.
constexpr int64_t kMaxSeparateRows = 8;
constexpr int64_t kMaxSeparateOuterRows = 2;

class Choices {
 public:
  Choices(const Block& block, const TileForm& form, const TileLimits& limits)
      : form_(form), limits_(limits), iters_(block.iters()) {}

  /// Sizes that fit with this many vectors; no rows if none fits.
  TileSizes of(int64_t vectors) const {
    if (form_.separate_columns) return of_separate_columns(vectors);
    // Rows shorter than half the longest tile are taken whole, several at once.
    const int64_t longest = std::ranges::max(limits_.row_tiles);
    if (form_.rows.size() > 1 && 2 * extent() <= longest) {
      TileSizes whole{{}, {extent()}, {vectors}};
      for (int64_t outer = 1; outer <= outer_extent() && outer * extent() <= longest; ++outer) {
        if (fits(outer * extent(), vectors)) whole.outer_rows.push_back(outer);
      }
      if (!whole.outer_rows.empty()) return whole;
    }
    return {{1}, those([&](int64_t rows) { return fits(rows, vectors); }), {vectors}};
  }

 private:
  TileSizes of_separate_columns(int64_t vectors) const {
    TileSizes sizes{{1}, {}, {vectors}};
    const int64_t longest = std::min(extent(), kMaxSeparateRows - 1);
    if (form_.rows.size() > 1 && outer_extent() > 1 && fits(kMaxSeparateOuterRows * longest, vectors))
      sizes.outer_rows.push_back(kMaxSeparateOuterRows);
    sizes.rows = those([&](int64_t rows) {
      return rows <= kMaxSeparateRows && fits(sizes.outer_rows.back() * rows, vectors);
    });
    return sizes;
  }

  /// The row counts that pass, or the whole extent if it is smaller than all and passes.
  template <typename Test>
  std::vector<int64_t> those(const Test& test) const {
    std::vector<int64_t> found;
    std::ranges::copy_if(limits_.row_tiles, std::back_inserter(found), [&](int64_t rows) {
      return rows <= extent() && rows % form_.period == 0 && test(rows);
    });
    if (found.empty() && extent() < std::ranges::min(limits_.row_tiles) && test(extent()))
      found.push_back(extent());
    return found;
  }

  bool fits(int64_t rows, int64_t vectors) const { return fits_registers(rows, vectors, limits_.registers); }

  int64_t extent() const { return iters_[form_.rows.back()].extent; }
  int64_t outer_extent() const { return iters_[form_.rows.end()[-2]].extent; }

  const TileForm& form_;
  const TileLimits& limits_;
  std::vector<IterVar> iters_;
};

}  // namespace

bool fits_registers(int64_t rows, int64_t vectors, int64_t registers) {
  return rows * vectors + vectors + 1 <= registers;
}

std::vector<TileSizes> tile_sizes(const Block& block, const TileForm& form, const TileLimits& limits,
                                  const std::vector<int64_t>& vectors) {
  const Choices choices(block, form, limits);
  std::vector<TileSizes> all;
  for (const int64_t count : vectors) {
    TileSizes sizes = choices.of(count);
    if (sizes.rows.empty()) continue;
    if (!all.empty() && all.back().rows == sizes.rows && all.back().outer_rows == sizes.outer_rows) {
      all.back().vectors.push_back(count);
    } else {
      all.push_back(std::move(sizes));
    }
  }
  if (all.empty()) {
    // Fewer rows than any choice has, but as many as there are registers for.
    const int64_t fit = (limits.registers - 1) / vectors.front() - 1;
    const int64_t most = std::min(std::ranges::min(limits.row_tiles), block.iters()[form.rows.back()].extent);
    all.push_back({{1}, {std::clamp<int64_t>(fit, 1, most)}, {vectors.front()}});
  }
  return all;
}

}  // namespace tunesmith
