// The strategies of plan_memory. Sizes are multiples of the alignment here.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tunesmith/network/plan_memory.h"

namespace tunesmith::network {

bool overlap(const Lifetime& a, const Lifetime& b);

/// The size of a block with these offsets.
int64_t extent_of(std::span<const Lifetime> tensors, std::span<const int64_t> offsets);

/// The largest sum of what one step needs, and the steps with their tensors, those that need most first.
struct Demand {
  int64_t bytes = 0;
  std::vector<size_t> tensors;
};
std::vector<Demand> demands(std::span<const Lifetime> tensors);

/// Places each tensor in order, in the smallest gap between already placed tensors with overlapping
/// lifetimes, or above them.
std::vector<int64_t> place_in_order(std::span<const Lifetime> tensors, std::span<const size_t> order);

/// Offsets of a block smaller than `limit`; empty if the search finds none. Stops at `lower_bound`.
std::vector<int64_t> search_placement(std::span<const Lifetime> tensors, int64_t lower_bound, int64_t limit,
                                      int64_t max_nodes);

}  // namespace tunesmith::network
