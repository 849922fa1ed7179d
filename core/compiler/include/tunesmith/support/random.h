// Random streams: one for each candidate index, so that results do not depend on the number of threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#pragma GCC visibility push(default)
namespace tunesmith {

/// A splitmix64 stream. Copyable; streams with the same (seed, index) give the
/// same numbers on every machine. Not thread-safe: each candidate has its own.
class RandomStream {
 public:
  explicit RandomStream(uint64_t seed, uint64_t index = 0);

  uint64_t next();
  /// Uniform in [0, bound); `bound` > 0. Unbiased.
  uint64_t below(uint64_t bound);
  /// Uniform in [0, 1).
  double uniform();
  /// Standard normal (Box-Muller; one value per call).
  double normal();
  /// Draws an index with probability proportional to `weights` (none negative, not all zero).
  size_t categorical(std::span<const double> weights);
  /// Fisher-Yates shuffle.
  template <typename T>
  void shuffle(std::vector<T>& items) {
    for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  uint64_t state_;
};

}  // namespace tunesmith
#pragma GCC visibility pop
