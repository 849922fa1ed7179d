#include "sampling/tile_arguments.h"

#include <fmt/format.h>

#include "trace/kind_builder.h"

namespace tunesmith {
namespace {

/// More nested loops than any machine has levels; also keeps the number of factorizations within 64 bits.
constexpr int64_t kMostParts = 16;

}  // namespace

SamplingDomain tile_domain(const Program& program, LoopId loop_id, int64_t parts,
                           std::string_view primitive) {
  const Loop& loop = loop_at(program, loop_id, primitive);
  if (parts < 1 || parts > kMostParts) {
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
