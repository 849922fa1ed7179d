#include "sampling/tile_kind.h"

#include <fmt/format.h>

namespace tunesmith {
namespace {

/// More nested loops than any machine has levels; keeps the number of factorizations within 64 bits.
constexpr int64_t kMaxParts = 16;

}  // namespace

std::optional<Decision> TileKind::mutate(const SamplingDomain& domain, const Decision& current,
                                         RandomStream& random) const {
  return mutate_tile(current, legal_in(domain), random);
}

std::vector<Decision> TileKind::enumerate(const SamplingDomain& domain, const Decision& current) const {
  return tile_neighbours(current, legal_in(domain));
}

std::vector<double> TileKind::encode(const SamplingDomain& domain, const Decision& decision) const {
  return encode_tile(domain.extent, decision);
}

std::vector<Value> TileKind::outputs(const Program& /*program*/, const Arguments& /*args*/,
                                     const SamplingDomain& /*domain*/, const Decision& decision) const {
  return {decision.begin(), decision.end()};
}

SamplingDomain tile_domain(const Program& program, LoopId loop_id, int64_t parts,
                           std::string_view primitive) {
  const Loop& loop = loop_at(program, loop_id, primitive);
  if (parts < 1 || parts > kMaxParts) {
    throw ScheduleMisuse(primitive, "the number of factors is not between 1 and 16", fmt::format("{}", parts),
                         program, &loop);
  }
  SamplingDomain domain;
  domain.extent = loop.const_extent();
  domain.parts = parts;
  return domain;
}

bool is_tile_of(const SamplingDomain& domain, const Decision& tile) {
  if (tile.size() != static_cast<size_t>(domain.parts)) return false;
  int64_t product = 1;
  for (const int64_t factor : tile) {
    if (factor < 1 || __builtin_mul_overflow(product, factor, &product)) return false;
  }
  return product == domain.extent;
}

}  // namespace tunesmith
