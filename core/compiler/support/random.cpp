#include "tunesmith/support/random.h"

#include <cmath>
#include <numbers>

#include "tunesmith/support/error.h"
#include "tunesmith/support/hash.h"

namespace tunesmith {

RandomStream::RandomStream(uint64_t seed, uint64_t index) : state_(hash_combine(seed, index)) {}

uint64_t RandomStream::next() {
  state_ += 0x9e3779b97f4a7c15ULL;
  uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

uint64_t RandomStream::below(uint64_t bound) {
  check_invariant(bound > 0, "a random bound is positive");
  const uint64_t threshold = (0 - bound) % bound;  // values under it would favour small results
  for (;;) {
    const uint64_t value = next();
    if (value >= threshold) return value % bound;
  }
}

double RandomStream::uniform() { return static_cast<double>(next() >> 11) * 0x1.0p-53; }

double RandomStream::normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

size_t RandomStream::categorical(std::span<const double> weights) {
  double total = 0.0;
  for (const double weight : weights) total += weight;
  check_invariant(total > 0.0, "categorical weights have a positive sum");
  double point = uniform() * total;
  size_t last = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] <= 0.0) continue;
    last = i;
    if (point < weights[i]) return i;
    point -= weights[i];
  }
  return last;
}

}  // namespace tunesmith
