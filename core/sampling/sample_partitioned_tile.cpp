#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "sampling/factorization.h"
#include "sampling/tile_arguments.h"
#include "trace/kind_builder.h"

namespace tunesmith {
namespace {

int64_t inner_product(const SamplingDomain& domain, const Decision& tile) {
  return std::accumulate(tile.begin() + domain.partition, tile.end(), int64_t{1}, std::multiplies<>());
}

class SamplePartitionedTile final : public SamplingKindBase {
 public:
  SamplePartitionedTile()
      : SamplingKindBase("sample_partitioned_tile",
                         {{"loop", ParamType::Loop},
                          {"n", ParamType::Int, /*keyword=*/true},
                          {"partition", ParamType::Int, /*keyword=*/true},
                          {"inner_factor", ParamType::Int, /*keyword=*/true}},
                         ResultType::Ints) {}

  Decision propose(const SamplingDomain& domain, RandomStream& random) const override {
    // The product of the inner factors with the number of ways to complete it as weight, then both sides.
    const int64_t inner_parts = domain.parts - domain.partition;
    uint64_t total = 0;
    std::vector<std::pair<int64_t, uint64_t>> inner;
    for (const int64_t divisor : divisors(domain.extent)) {
      if (divisor % domain.inner_factor != 0) continue;
      const uint64_t ways = count_factorizations(divisor, inner_parts) *
                            count_factorizations(domain.extent / divisor, domain.partition);
      inner.emplace_back(divisor, ways);
      total += ways;
    }
    uint64_t ticket = random.below(total);
    auto chosen = inner.begin();
    for (; ticket >= chosen->second; ++chosen) ticket -= chosen->second;
    Decision decision = draw_factorization(domain.extent / chosen->first, domain.partition, random);
    const Decision rest = draw_factorization(chosen->first, inner_parts, random);
    decision.insert(decision.end(), rest.begin(), rest.end());
    return decision;
  }

  std::optional<Decision> mutate(const SamplingDomain& domain, const Decision& current,
                                 RandomStream& random) const override {
    return mutate_tile(current, legal_in(domain), random);
  }

  std::vector<Decision> enumerate(const SamplingDomain& domain, const Decision& current) const override {
    return tile_neighbours(current, legal_in(domain));
  }

  Decision repair(const SamplingDomain& domain, const Decision& wanted) const override {
    if (is_tile_of(domain, wanted) && inner_product(domain, wanted) % domain.inner_factor == 0) return wanted;
    // From the innermost outwards the nearest divisor of what is left. The first factor of the inner side
    // makes up what is missing of the inner factor; the outermost takes the rest.
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

  std::vector<Value> outputs(const Program&, const Arguments&, const SamplingDomain&,
                             const Decision& decision) const override {
    return {decision.begin(), decision.end()};
  }

 private:
  static LegalTile legal_in(const SamplingDomain& domain) {
    return [domain](const Decision& tile) { return inner_product(domain, tile) % domain.inner_factor == 0; };
  }
};

}  // namespace

KindPtr sample_partitioned_tile_kind() { return std::make_unique<SamplePartitionedTile>(); }

std::vector<IntRV> Schedule::sample_partitioned_tile(LoopRV loop, int n, int partition, int inner_factor) {
  return as_handles<IntRV>(execute(kind("sample_partitioned_tile"),
                                   {loop, int64_t{n}, int64_t{partition}, int64_t{inner_factor}}));
}

}  // namespace tunesmith
