#include "twins/extent_substitution.h"

#include <algorithm>
#include <cmath>

#include "tunesmith/ir/visit.h"

namespace tunesmith {
namespace {

int64_t tiles_of(int64_t extent, int64_t tile) { return (extent + tile - 1) / tile; }

/// Is there a tile size with `count` tiles in `extent` and `smaller_count` in `smaller_extent`?
bool have_one_tile(int64_t extent, int64_t count, int64_t smaller_extent, int64_t smaller_count) {
  if (count < 1 || smaller_count < 1 || count > extent) return false;
  // The smallest with no more than `count` tiles; greater ones give fewer or as many.
  const int64_t tile = std::max(tiles_of(extent, count), tiles_of(smaller_extent, smaller_count));
  return tiles_of(extent, tile) == count && tiles_of(smaller_extent, tile) == smaller_count;
}

}  // namespace

ExtentSubstitution::ExtentSubstitution(const Program& full, const Program& smaller) {
  const auto pairwise = [](const auto& theirs, const auto& ours, const auto& visit) {
    for (size_t i = 0; i < std::min(theirs.size(), ours.size()); ++i) visit(theirs[i], ours[i]);
  };
  pairwise(full.buffers(), smaller.buffers(),
           [&](const Buffer& theirs, const Buffer& ours) { insert(theirs, ours); });
  pairwise(collect<Allocate>(full.root()), collect<Allocate>(smaller.root()),
           [&](const Allocate* theirs, const Allocate* ours) { insert(theirs->buffer, ours->buffer); });
  pairwise(collect<Loop>(full.root()), collect<Loop>(smaller.root()),
           [&](const Loop* theirs, const Loop* ours) {
             const auto* from = theirs->extent.as<IntImm>();
             const auto* to = ours->extent.as<IntImm>();
             if (from != nullptr && to != nullptr) insert(from->value, to->value);
           });
  std::ranges::sort(extents_);
  const auto repeated = std::ranges::unique(extents_);
  extents_.erase(repeated.begin(), repeated.end());
}

void ExtentSubstitution::insert(int64_t full, int64_t smaller) {
  if (smaller > 0 && smaller < full) extents_.emplace_back(full, smaller);
}

void ExtentSubstitution::insert(const Buffer& full, const Buffer& smaller) {
  if (full->shape.size() != smaller->shape.size()) return;
  const std::vector<int64_t> theirs = full->effective_strides();
  const std::vector<int64_t> ours = smaller->effective_strides();
  for (size_t dim = 0; dim < full->shape.size(); ++dim) {
    insert(full->shape[dim], smaller->shape[dim]);
    insert(theirs[dim], ours[dim]);
  }
  insert(full->elements(), smaller->elements());
}

bool ExtentSubstitution::scales(int64_t full, int64_t smaller) const {
  if (full == smaller) return true;
  if (full < 0 && smaller < 0) return scales(-full, -smaller);
  return std::ranges::any_of(extents_, [&](const auto& extent) {
    return full % extent.first == 0 && full / extent.first * extent.second == smaller;
  });
}

bool ExtentSubstitution::counts(int64_t full, int64_t smaller) const {
  return scales(full, smaller) || std::ranges::any_of(extents_, [&](const auto& extent) {
           return have_one_tile(extent.first, full, extent.second, smaller);
         });
}

bool ExtentSubstitution::shifts(int64_t full, int64_t smaller) const {
  if (counts(full, smaller)) return true;
  if (full < 0 && smaller < 0) return shifts(-full, -smaller);
  const int64_t fewer = full - smaller;
  return fewer > 0 && std::ranges::any_of(extents_, [&](const auto& extent) {
           const auto [from, to] = extent;
           const int64_t lost = from - to;
           // `full` has the same distance from a multiple of its extent as `smaller` from one of its own,
           if (fewer % lost == 0) return std::abs(smaller - fewer / lost * to) < fewer / lost * to;
           // or from a fraction.
           const int64_t parts = lost / fewer;
           return lost % fewer == 0 && from % parts == 0 && std::abs(smaller - to / parts) < to / parts;
         });
}

bool ExtentSubstitution::is_extent(double full, double smaller) const {
  if (full == smaller) return true;
  // For constants that were rounded to a data type.
  const auto near = [](double a, double b) { return std::abs(a - b) <= 4e-3 * std::abs(b); };
  return std::ranges::any_of(extents_, [&](const auto& extent) {
    const auto from = static_cast<double>(extent.first);
    const auto to = static_cast<double>(extent.second);
    return (full == from && smaller == to) || (near(full, 1 / from) && near(smaller, 1 / to));
  });
}

}  // namespace tunesmith
