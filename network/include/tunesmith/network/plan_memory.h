// Places tensors in one block of memory; tensors with disjoint lifetimes may share memory.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#pragma GCC visibility push(default)
namespace tunesmith::network {

/// Offsets of tensors are multiples of this: a cache line, and a vector of any processor.
inline constexpr int64_t kTensorAlignment = 64;
constexpr int64_t align_up(int64_t bytes) {
  return (bytes + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
}

/// A tensor's lifetime: from the step that computes it to the last step that reads it, both included.
struct Lifetime {
  int64_t bytes = 0;
  int64_t first = 0;
  int64_t last = 0;
};

struct MemoryPlan {
  std::vector<int64_t> offsets;  ///< of the tensors, in order
  int64_t bytes = 0;             ///< of the block
  int64_t lower_bound = 0;       ///< the largest sum of what one step needs; no plan is smaller
};

/// The best of four strategies: the largest tensor first; the step that needs most first; and, if both exceed
/// the lower bound, the largest first repeatedly with the highest tensors moved forward, and a
/// branch-and-bound search over all placements that stops after `max_nodes` of them, which is exhaustive for
/// few tensors. Deterministic. Throws InternalError for negative bytes, or `last` before `first`.
MemoryPlan plan_memory(std::span<const Lifetime> tensors, int64_t max_nodes = 20'000);

}  // namespace tunesmith::network
#pragma GCC visibility pop
