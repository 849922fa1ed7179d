#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "sampling/tile_kind.h"

namespace tunesmith {
namespace {

int64_t inner_product(const SamplingDomain& domain, const Decision& tile) {
  return std::accumulate(tile.begin() + domain.partition, tile.end(), int64_t{1}, std::multiplies<>());
}

class SamplePartitionedTile final : public TileKind {
 public:
  SamplePartitionedTile()
      : TileKind("sample_partitioned_tile",
                 {{"loop", ParamType::Loop},
                  {"n", ParamType::Int, /*keyword=*/true},
                  {"partition", ParamType::Int, /*keyword=*/true},
                  {"inner_factor", ParamType::Int, /*keyword=*/true}},
                 ResultType::Ints) {}

  Decision propose(const SamplingDomain& domain, RandomStream& random) const override {
    // Draws the product of the inner factors, weighted by the number of its completions, then both sides.
    const std::vector<Cut> cuts = cuts_of(domain);
    uint64_t ticket = random.below(count(domain));
    auto chosen = cuts.begin();
    for (; ticket >= chosen->ways(); ++chosen) ticket -= chosen->ways();
    Decision decision = draw_factorization(domain.extent / chosen->inner, domain.partition, random);
    const Decision rest = draw_factorization(chosen->inner, domain.parts - domain.partition, random);
    decision.insert(decision.end(), rest.begin(), rest.end());
    return decision;
  }

  Decision repair(const SamplingDomain& domain, const Decision& wanted) const override {
    if (is_tile_of(domain, wanted) && inner_product(domain, wanted) % domain.inner_factor == 0) return wanted;
    // From the innermost outwards, takes the nearest divisor of the rest. The first inner factor is completed
    // to a multiple of the inner factor; the outermost takes the rest.
    const auto parts = static_cast<size_t>(domain.parts);
    const auto partition = static_cast<size_t>(domain.partition);
    Decision decision(parts, 1);
    int64_t left = domain.extent;
    int64_t inner = 1;
    for (size_t i = parts; i-- > 0;) {
      std::vector<int64_t> possible = divisors(left);
      if (i == partition) {
        std::erase_if(possible, [&](int64_t d) { return inner * d % domain.inner_factor != 0; });
      }
      decision[i] = i == 0 ? left : nearest_by_ratio(possible, i < wanted.size() ? wanted[i] : 1);
      left /= decision[i];
      if (i >= partition) inner *= decision[i];
    }
    return decision;
  }

  uint64_t count(const SamplingDomain& domain) const override {
    uint64_t total = 0;
    for (const Cut& cut : cuts_of(domain)) total += cut.ways();
    return total;
  }

  /// Ordered by the product of the inner factors (increasing), then by factorization_at() of the outer
  /// factors, then of the inner ones.
  Decision at(const SamplingDomain& domain, uint64_t index) const override {
    const std::vector<Cut> cuts = cuts_of(domain);
    auto chosen = cuts.begin();
    for (; index >= chosen->ways(); ++chosen) index -= chosen->ways();
    Decision decision =
        factorization_at(domain.extent / chosen->inner, domain.partition, index / chosen->inner_ways);
    const Decision rest =
        factorization_at(chosen->inner, domain.parts - domain.partition, index % chosen->inner_ways);
    decision.insert(decision.end(), rest.begin(), rest.end());
    return decision;
  }

 protected:
  SamplingDomain domain(const Program& program, const Arguments& args) const override {
    SamplingDomain domain = tile_domain(program, args.loop(0), args.integer(1), name());
    domain.partition = args.integer(2);
    domain.inner_factor = args.integer(3);
    if (domain.partition < 0 || domain.partition >= domain.parts) {
      throw ScheduleMisuse(name(), "the partition is not a position of a factor",
                           fmt::format("{} of {}", domain.partition, domain.parts), program);
    }
    if (domain.inner_factor < 1 || domain.extent % domain.inner_factor != 0) {
      throw ScheduleError(name(), "the inner factor does not divide the extent",
                          fmt::format("{} and {}", domain.inner_factor, domain.extent), program);
    }
    return domain;
  }

  LegalTile legal_in(const SamplingDomain& domain) const override {
    return [domain](const Decision& tile) { return inner_product(domain, tile) % domain.inner_factor == 0; };
  }

 private:
  /// A product of the inner factors, and the number of factorizations of either side.
  struct Cut {
    int64_t inner = 1;
    uint64_t inner_ways = 0;
    uint64_t outer_ways = 0;
    uint64_t ways() const { return inner_ways * outer_ways; }
  };
  static std::vector<Cut> cuts_of(const SamplingDomain& domain) {
    std::vector<Cut> cuts;
    for (const int64_t divisor : divisors(domain.extent)) {
      if (divisor % domain.inner_factor != 0) continue;
      cuts.push_back({divisor, count_factorizations(divisor, domain.parts - domain.partition),
                      count_factorizations(domain.extent / divisor, domain.partition)});
    }
    return cuts;
  }
};

}  // namespace

KindPtr sample_partitioned_tile_kind() { return std::make_unique<SamplePartitionedTile>(); }

std::vector<IntRV> Schedule::sample_partitioned_tile(LoopRV loop, int n, int partition, int inner_factor) {
  return as_handles<IntRV>(execute(kind("sample_partitioned_tile"),
                                   {loop, int64_t{n}, int64_t{partition}, int64_t{inner_factor}}));
}

}  // namespace tunesmith
