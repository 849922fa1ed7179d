#include <algorithm>

#include <fmt/format.h>

#include "sampling/tile_kind.h"

namespace tunesmith {
namespace {

class SamplePerfectTile final : public TileKind {
 public:
  SamplePerfectTile()
      : TileKind("sample_perfect_tile",
                 {{"loop", ParamType::Loop},
                  {"n", ParamType::Int, /*keyword=*/true},
                  {"max_innermost", ParamType::Int, /*keyword=*/true}},
                 ResultType::Ints) {}

  Decision propose(const SamplingDomain& domain, RandomStream& random) const override {
    // Draws the last factor, weighted by the number of its completions, then the others.
    const std::vector<Completions> last = last_factors(domain);
    uint64_t ticket = random.below(count(domain));
    auto chosen = last.begin();
    for (; ticket >= chosen->ways; ++chosen) ticket -= chosen->ways;
    Decision decision = draw_factorization(domain.extent / chosen->factor, domain.parts - 1, random);
    decision.push_back(chosen->factor);
    return decision;
  }

  Decision repair(const SamplingDomain& domain, const Decision& wanted) const override {
    if (is_tile_of(domain, wanted) && wanted.back() <= domain.max_innermost) return wanted;
    // From the innermost outwards, takes the nearest divisor of the rest; the outermost takes the rest.
    const auto parts = static_cast<size_t>(domain.parts);
    Decision decision(parts, 1);
    int64_t left = domain.extent;
    for (size_t i = parts; i-- > 1;) {
      std::vector<int64_t> possible = divisors(left);
      if (i == parts - 1) std::erase_if(possible, [&](int64_t d) { return d > domain.max_innermost; });
      decision[i] = nearest_by_ratio(possible, i < wanted.size() ? wanted[i] : 1);
      left /= decision[i];
    }
    decision[0] = left;
    return decision;
  }

  uint64_t count(const SamplingDomain& domain) const override {
    uint64_t total = 0;
    for (const Completions& last : last_factors(domain)) total += last.ways;
    return total;
  }

  /// Ordered by the last factor (increasing), then by factorization_at() of the others.
  Decision at(const SamplingDomain& domain, uint64_t index) const override {
    const std::vector<Completions> last = last_factors(domain);
    auto chosen = last.begin();
    for (; index >= chosen->ways; ++chosen) index -= chosen->ways;
    Decision decision = factorization_at(domain.extent / chosen->factor, domain.parts - 1, index);
    decision.push_back(chosen->factor);
    return decision;
  }

 protected:
  SamplingDomain domain(const Program& program, const Arguments& args) const override {
    SamplingDomain domain = tile_domain(program, args.loop(0), args.integer(1), name());
    domain.max_innermost = args.integer(2);
    if (domain.max_innermost < 1)
      throw ScheduleMisuse(name(), "no factor may be so small",
                           fmt::format("max_innermost {}", domain.max_innermost), program);
    if (domain.parts == 1 && domain.extent > domain.max_innermost) {
      throw ScheduleError(name(), "no factor may be so small",
                          fmt::format("max_innermost {}", domain.max_innermost), program);
    }
    return domain;
  }

  LegalTile legal_in(const SamplingDomain& domain) const override {
    return [bound = domain.max_innermost](const Decision& tile) { return tile.back() <= bound; };
  }

 private:
  /// A last factor, and the number of ways to complete it.
  struct Completions {
    int64_t factor = 1;
    uint64_t ways = 0;
  };
  static std::vector<Completions> last_factors(const SamplingDomain& domain) {
    std::vector<Completions> last;
    for (const int64_t divisor : divisors(domain.extent)) {
      if (divisor > domain.max_innermost) break;
      last.push_back({divisor, count_factorizations(domain.extent / divisor, domain.parts - 1)});
    }
    return last;
  }
};

}  // namespace

KindPtr sample_perfect_tile_kind() { return std::make_unique<SamplePerfectTile>(); }

std::vector<IntRV> Schedule::sample_perfect_tile(LoopRV loop, int n, int max_innermost) {
  return as_handles<IntRV>(execute(kind("sample_perfect_tile"), {loop, int64_t{n}, int64_t{max_innermost}}));
}

}  // namespace tunesmith
