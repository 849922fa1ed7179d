#include <algorithm>
#include <limits>

#include "placement.h"

namespace tunesmith::network {

bool overlap(const Lifetime& a, const Lifetime& b) { return a.first <= b.last && b.first <= a.last; }

int64_t extent_of(std::span<const Lifetime> tensors, std::span<const int64_t> offsets) {
  int64_t extent = 0;
  for (size_t i = 0; i < tensors.size(); ++i) extent = std::max(extent, offsets[i] + tensors[i].bytes);
  return extent;
}

std::vector<Demand> demands(std::span<const Lifetime> tensors) {
  // Live memory only grows where a tensor begins: other steps cannot be the maximum.
  std::vector<int64_t> steps;
  for (const Lifetime& tensor : tensors) steps.push_back(tensor.first);
  std::ranges::sort(steps);
  steps.erase(std::ranges::unique(steps).begin(), steps.end());
  std::vector<Demand> result;
  for (const int64_t step : steps) {
    Demand demand;
    for (size_t i = 0; i < tensors.size(); ++i) {
      if (tensors[i].first > step || tensors[i].last < step) continue;
      demand.bytes += tensors[i].bytes;
      demand.tensors.push_back(i);
    }
    result.push_back(std::move(demand));
  }
  std::ranges::stable_sort(result, std::greater<>(), &Demand::bytes);
  return result;
}

namespace {

/// The offset of the smallest gap that holds `bytes` between the occupied ranges, which are sorted; else
/// their end.
int64_t best_fit(std::span<const std::pair<int64_t, int64_t>> occupied, int64_t bytes) {
  int64_t end = 0, best = -1, smallest = std::numeric_limits<int64_t>::max();
  for (const auto& [begin, until] : occupied) {
    const int64_t gap = begin - end;
    if (gap >= bytes && gap < smallest) {
      best = end;
      smallest = gap;
    }
    end = std::max(end, until);
  }
  return best >= 0 ? best : end;
}

}  // namespace

std::vector<int64_t> place_in_order(std::span<const Lifetime> tensors, std::span<const size_t> order) {
  std::vector<int64_t> offsets(tensors.size(), 0);
  std::vector<size_t> placed;
  for (const size_t i : order) {
    std::vector<std::pair<int64_t, int64_t>> occupied;
    for (const size_t other : placed) {
      if (overlap(tensors[i], tensors[other]))
        occupied.emplace_back(offsets[other], offsets[other] + tensors[other].bytes);
    }
    std::ranges::sort(occupied);
    offsets[i] = best_fit(occupied, tensors[i].bytes);
    placed.push_back(i);
  }
  return offsets;
}

}  // namespace tunesmith::network
