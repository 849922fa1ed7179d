// The ways in which plan_memory places tensors. Sizes are multiples of the alignment here.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tunesmith/network/plan_memory.h"

namespace tunesmith::network {

bool overlap(const Lifetime& a, const Lifetime& b);

/// The bytes that `offsets` take.
int64_t extent_of(std::span<const Lifetime> tensors, std::span<const int64_t> offsets);

/// Largest sum of what one step needs, and the steps in the order of what they need, most first, each with
/// its tensors.
struct Demand {
  int64_t bytes = 0;
  std::vector<size_t> tensors;
};
std::vector<Demand> demands(std::span<const Lifetime> tensors);

/// Each in turn in the smallest gap between those of its time that were placed before, or above them.
std::vector<int64_t> place_in_order(std::span<const Lifetime> tensors, std::span<const size_t> order);

/// Offsets that take less than `limit` bytes; empty when the search finds none. It ends when it reaches
/// `lower_bound`.
std::vector<int64_t> search_placement(std::span<const Lifetime> tensors, int64_t lower_bound, int64_t limit,
                                      int64_t max_nodes);

}  // namespace tunesmith::network
