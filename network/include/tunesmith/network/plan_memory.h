// Places tensors in one block of memory. Tensors that are not needed at the same time may share a place.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#pragma GCC visibility push(default)
namespace tunesmith::network {

/// Offsets of tensors are multiples of it: a cache line, and a vector of any processor.
inline constexpr int64_t kTensorAlignment = 64;
constexpr int64_t align_up(int64_t bytes) {
  return (bytes + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
}

/// What a tensor needs: memory from the step that computes it to the last that reads it, both included.
struct Lifetime {
  int64_t bytes = 0;
  int64_t first = 0;
  int64_t last = 0;
};

struct MemoryPlan {
  std::vector<int64_t> offsets;  ///< of the tensors, in their order
  int64_t bytes = 0;             ///< that hold all of them
  int64_t lower_bound = 0;       ///< the largest sum of what any step needs; no plan takes less
};

/// The best of four: the largest tensor first; the step that needs the most first; and, where both take more
/// than the lower bound, the largest first again and again with what reached highest moved forward, and a
/// search over all placements that ends after `max_nodes` of them, which leaves nothing better for few
/// tensors. The same tensors get the same plan. Throws InternalError for negative bytes, or `last` before
/// `first`.
MemoryPlan plan_memory(std::span<const Lifetime> tensors, int64_t max_nodes = 20'000);

}  // namespace tunesmith::network
#pragma GCC visibility pop
