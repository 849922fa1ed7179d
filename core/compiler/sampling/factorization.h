// Ordered factorizations of an extent: counting, uniform drawing, neighbours, encoding.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "tunesmith/support/random.h"
#include "tunesmith/trace/instruction.h"

namespace tunesmith {

/// Prime factors with exponents, in increasing order. `n` >= 1.
using PrimePowers = std::vector<std::pair<int64_t, int>>;
PrimePowers prime_powers(int64_t n);
/// All divisors, in increasing order.
std::vector<int64_t> divisors(int64_t n);

/// The number of tuples of `parts` positive factors whose product is `n`.
uint64_t count_factorizations(int64_t n, int64_t parts);
/// Draws such a tuple uniformly. Requires that one exists: parts >= 1, or n == 1.
std::vector<int64_t> draw_factorization(int64_t n, int64_t parts, RandomStream& random);
/// The tuple with the number `index` < count_factorizations(n, parts), in a fixed order: the exponents of the
/// smallest prime change slowest, and larger first factors come last.
std::vector<int64_t> factorization_at(int64_t n, int64_t parts, uint64_t index);

/// The number nearest to `wanted` by ratio among `numbers` (increasing, not empty); the smaller of equals.
int64_t nearest_by_ratio(const std::vector<int64_t>& numbers, int64_t wanted);

/// Is the tuple a legal decision?
using LegalTile = std::function<bool(const Decision&)>;
/// A legal tuple reached from `current` by moving a divisor from one factor to another, all equally likely.
std::optional<Decision> mutate_tile(const Decision& current, const LegalTile& legal, RandomStream& random);
/// All legal tuples reached from `current` by moving one prime from one factor to another, in a fixed order.
std::vector<Decision> tile_neighbours(const Decision& current, const LegalTile& legal);

/// Encodes a tile of `extent`: log(factor) / log(extent) for each factor, and, with more than
/// three, the same for the products of the first two, three, ... up to all but the last two.
std::vector<double> encode_tile(int64_t extent, const Decision& tile);

}  // namespace tunesmith
