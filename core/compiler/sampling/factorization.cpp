#include "sampling/factorization.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

__extension__ typedef __int128 Wide;  // holds products of two extents

uint64_t choose(uint64_t n, uint64_t k) {
  k = std::min(k, n - k);
  uint64_t result = 1;
  for (uint64_t i = 1; i <= k; ++i) {
    // Exact at every step: a product of i consecutive numbers is divisible by i!.
    check_invariant(!__builtin_mul_overflow(result, n - k + i, &result),
                    "a number of factorizations fits 64 bits");
    result /= i;
  }
  return result;
}

/// The number of ways to distribute `exponent` equal primes over `parts` boxes.
uint64_t compositions(uint64_t exponent, uint64_t parts) {
  if (parts == 0) return exponent == 0 ? 1 : 0;
  return choose(exponent + parts - 1, parts - 1);
}

/// The number of primes in the first of `boxes_after` + 1 boxes, in distribution number `ticket` of `left`
/// equal primes; `ticket` becomes the number of the distribution of the rest.
uint64_t take_primes(uint64_t left, uint64_t boxes_after, uint64_t& ticket) {
  uint64_t taken = 0;
  for (uint64_t ways = compositions(left, boxes_after); ticket >= ways;
       ways = compositions(left - taken, boxes_after)) {
    ticket -= ways;
    ++taken;
  }
  return taken;
}

/// Every move of a divisor from the factor `from` to the factor `to` that gives a legal tuple.
void for_each_move(const Decision& current, const LegalTile& legal, bool primes_only,
                   const std::function<void(Decision)>& visit) {
  for (size_t from = 0; from < current.size(); ++from) {
    if (current[from] <= 1) continue;
    std::vector<int64_t> moved;
    if (primes_only) {
      for (const auto& [prime, exponent] : prime_powers(current[from])) moved.push_back(prime);
    } else {
      moved = divisors(current[from]);
      moved.erase(moved.begin());
    }
    for (size_t to = 0; to < current.size(); ++to) {
      if (to == from) continue;
      for (const int64_t divisor : moved) {
        Decision next = current;
        next[from] /= divisor;
        next[to] *= divisor;
        if (legal(next)) visit(std::move(next));
      }
    }
  }
}

}  // namespace

PrimePowers prime_powers(int64_t n) {
  PrimePowers result;
  for (int64_t prime = 2; prime * prime <= n; ++prime) {
    int exponent = 0;
    for (; n % prime == 0; n /= prime) ++exponent;
    if (exponent > 0) result.emplace_back(prime, exponent);
  }
  if (n > 1) result.emplace_back(n, 1);
  return result;
}

std::vector<int64_t> divisors(int64_t n) {
  std::vector<int64_t> result{1};
  for (const auto& [prime, exponent] : prime_powers(n)) {
    const size_t known = result.size();
    int64_t power = 1;
    for (int e = 0; e < exponent; ++e) {
      power *= prime;
      for (size_t i = 0; i < known; ++i) result.push_back(result[i] * power);
    }
  }
  std::sort(result.begin(), result.end());
  return result;
}

uint64_t count_factorizations(int64_t n, int64_t parts) {
  uint64_t count = 1;
  for (const auto& [prime, exponent] : prime_powers(n)) {
    check_invariant(
        !__builtin_mul_overflow(
            count, compositions(static_cast<uint64_t>(exponent), static_cast<uint64_t>(parts)), &count),
        "a number of factorizations fits 64 bits");
  }
  return count;
}

std::vector<int64_t> draw_factorization(int64_t n, int64_t parts, RandomStream& random) {
  std::vector<int64_t> factors(static_cast<size_t>(parts), 1);
  for (const auto& [prime, exponent] : prime_powers(n)) {
    // The number of primes for each box is drawn so that the rest stays uniform.
    auto left = static_cast<uint64_t>(exponent);
    for (size_t box = 0; box < factors.size() && left > 0; ++box) {
      const uint64_t boxes_after = factors.size() - box - 1;
      uint64_t ticket = random.below(compositions(left, boxes_after + 1));
      const uint64_t taken = take_primes(left, boxes_after, ticket);
      for (uint64_t i = 0; i < taken; ++i) factors[box] *= prime;
      left -= taken;
    }
  }
  return factors;
}

std::vector<int64_t> factorization_at(int64_t n, int64_t parts, uint64_t index) {
  std::vector<int64_t> factors(static_cast<size_t>(parts), 1);
  uint64_t ways = count_factorizations(n, parts);
  check_invariant(index < ways, "a number of a factorization is below their count");
  for (const auto& [prime, exponent] : prime_powers(n)) {
    auto left = static_cast<uint64_t>(exponent);
    ways /= compositions(left, factors.size());
    uint64_t ticket = index / ways;
    index %= ways;
    for (size_t box = 0; box < factors.size() && left > 0; ++box) {
      const uint64_t taken = take_primes(left, factors.size() - box - 1, ticket);
      for (uint64_t i = 0; i < taken; ++i) factors[box] *= prime;
      left -= taken;
    }
  }
  return factors;
}

int64_t nearest_by_ratio(const std::vector<int64_t>& numbers, int64_t wanted) {
  wanted = std::max<int64_t>(wanted, 1);
  const auto above = std::lower_bound(numbers.begin(), numbers.end(), wanted);
  if (above == numbers.begin()) return numbers.front();
  if (above == numbers.end()) return numbers.back();
  const int64_t below = *(above - 1);
  // wanted / below <= above / wanted
  return static_cast<Wide>(wanted) * wanted <= static_cast<Wide>(*above) * below ? below : *above;
}

std::optional<Decision> mutate_tile(const Decision& current, const LegalTile& legal, RandomStream& random) {
  std::vector<Decision> moves;
  for_each_move(current, legal, /*primes_only=*/false,
                [&](Decision next) { moves.push_back(std::move(next)); });
  if (moves.empty()) return std::nullopt;
  return std::move(moves[random.below(moves.size())]);
}

std::vector<Decision> tile_neighbours(const Decision& current, const LegalTile& legal) {
  std::vector<Decision> moves;
  for_each_move(current, legal, /*primes_only=*/true,
                [&](Decision next) { moves.push_back(std::move(next)); });
  return moves;
}

std::vector<double> encode_tile(int64_t extent, const Decision& tile) {
  const double scale = extent > 1 ? 1.0 / std::log(static_cast<double>(extent)) : 0.0;
  std::vector<double> encoded;
  for (const int64_t factor : tile) encoded.push_back(scale * std::log(static_cast<double>(factor)));
  double product = encoded.empty() ? 0.0 : encoded[0];
  for (size_t i = 1; i + 2 < tile.size(); ++i) {
    product += encoded[i];
    encoded.push_back(product);
  }
  return encoded;
}

}  // namespace tunesmith
