#include "tunesmith/network/plan_memory.h"

#include <algorithm>
#include <numeric>

#include "placement.h"
#include "tunesmith/support/error.h"

namespace tunesmith::network {
namespace {

constexpr int kMaxPlacements = 500;

std::vector<Lifetime> aligned(std::span<const Lifetime> tensors) {
  std::vector<Lifetime> result(tensors.begin(), tensors.end());
  for (Lifetime& tensor : result) {
    check_invariant(tensor.bytes >= 0 && tensor.first <= tensor.last,
                    "a tensor's lifetime is not backwards, nor its size negative");
    tensor.bytes = align_up(tensor.bytes);
  }
  return result;
}

std::vector<size_t> largest_first(std::span<const Lifetime> tensors, std::vector<size_t> order) {
  std::ranges::stable_sort(order, std::greater<>(), [&](size_t i) { return tensors[i].bytes; });
  return order;
}

/// Orders tensors by step, the step that needs most first.
std::vector<size_t> by_breadth(std::span<const Lifetime> tensors, std::span<const Demand> steps) {
  std::vector<size_t> order;
  std::vector<bool> taken(tensors.size(), false);
  for (const Demand& step : steps) {
    for (const size_t i : largest_first(tensors, step.tensors)) {
      if (!taken[i]) order.push_back(i);
      taken[i] = true;
    }
  }
  return order;
}

/// Keeps the smaller of the plan and `offsets`.
void keep_better(MemoryPlan& plan, std::span<const Lifetime> tensors, std::vector<int64_t> offsets) {
  if (offsets.empty()) return;
  const int64_t bytes = extent_of(tensors, offsets);
  if (!plan.offsets.empty() && bytes >= plan.bytes) return;
  plan.offsets = std::move(offsets);
  plan.bytes = bytes;
}

/// Repeats the placement with the highest tensors moved forward.
void raise_what_sticks_out(MemoryPlan& plan, std::span<const Lifetime> tensors, std::vector<size_t> order) {
  for (int round = 0; round < kMaxPlacements && plan.bytes > plan.lower_bound; ++round) {
    std::vector<int64_t> offsets = place_in_order(tensors, order);
    const auto highest =
        std::ranges::max_element(order, {}, [&](size_t i) { return offsets[i] + tensors[i].bytes; });
    const auto target = order.begin() + (highest - order.begin()) / 2;
    std::rotate(target, highest, highest + 1);
    keep_better(plan, tensors, std::move(offsets));
  }
}

}  // namespace

MemoryPlan plan_memory(std::span<const Lifetime> given, int64_t max_nodes) {
  const std::vector<Lifetime> tensors = aligned(given);
  const std::vector<Demand> steps = demands(tensors);
  MemoryPlan plan;
  if (tensors.empty()) return plan;
  plan.lower_bound = steps.front().bytes;

  std::vector<size_t> all(tensors.size());
  std::iota(all.begin(), all.end(), 0);
  const std::vector<size_t> by_size = largest_first(tensors, all);
  keep_better(plan, tensors, place_in_order(tensors, by_size));
  keep_better(plan, tensors, place_in_order(tensors, by_breadth(tensors, steps)));
  raise_what_sticks_out(plan, tensors, by_size);
  if (plan.bytes > plan.lower_bound)
    keep_better(plan, tensors, search_placement(tensors, plan.lower_bound, plan.bytes, max_nodes));
  return plan;
}

}  // namespace tunesmith::network
