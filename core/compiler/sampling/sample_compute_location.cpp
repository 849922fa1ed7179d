#include <algorithm>

#include <fmt/format.h>

#include "primitives/compute_location.h"
#include "primitives/primitives.h"
#include "trace/kind_builder.h"

namespace tunesmith {
namespace {

/// Decisions other than a loop's depth.
constexpr int64_t kRoot = -1;
constexpr int64_t kInline = -2;

/// As in MetaSchedule's public implementation: the depth of a loop
/// in the consumer's nest, -1 for the root or -2 for inlining.
class SampleComputeLocation final : public SamplingKindBase {
 public:
  SampleComputeLocation()
      : SamplingKindBase("sample_compute_location", {{"block", ParamType::Block}}, ResultType::Loop) {}

  Decision propose(const SamplingDomain& domain, RandomStream& random) const override {
    return {domain.candidates[random.below(domain.candidates.size())]};
  }

  std::optional<Decision> mutate(const SamplingDomain& domain, const Decision& current,
                                 RandomStream& random) const override {
    const std::vector<Decision> others = enumerate(domain, current);
    if (others.empty()) return std::nullopt;
    return others[random.below(others.size())];
  }

  std::vector<Decision> enumerate(const SamplingDomain& domain, const Decision& current) const override {
    std::vector<Decision> others;
    for (const int64_t candidate : domain.candidates) {
      if (candidate != current[0]) others.push_back({candidate});
    }
    return others;
  }

  Decision repair(const SamplingDomain& domain, const Decision& wanted) const override {
    // The deepest legal location not below the wanted one; impossible inlining becomes the root.
    const int64_t location = wanted.empty() ? kRoot : wanted[0];
    int64_t best = kRoot;
    for (const int64_t candidate : domain.candidates) {
      if (candidate == location) return {location};
      if (candidate <= location) best = std::max(best, candidate);
    }
    return {best};
  }

  uint64_t count(const SamplingDomain& domain) const override { return domain.candidates.size(); }

  /// Order: inlining, the root, then loops from the outermost inwards.
  Decision at(const SamplingDomain& domain, uint64_t index) const override {
    return {domain.candidates.at(index)};
  }

  /// A single number, ascending in the order of at(); it does not depend on which other locations are legal.
  std::vector<double> encode(const SamplingDomain&, const Decision& decision) const override {
    constexpr double kDeepest = 32;
    return {std::min(1.0, static_cast<double>(decision[0] - kInline) / kDeepest)};
  }

 protected:
  SamplingDomain domain(const Program& program, const Arguments& args) const override {
    const Block& block = block_at(program, args.block(0), name());
    SamplingDomain domain;
    if (may_compute_inline(program, block.id)) domain.candidates.push_back(kInline);
    domain.candidates.push_back(kRoot);
    for (const int64_t depth : legal_compute_depths(program, block.id)) domain.candidates.push_back(depth);
    return domain;
  }

  std::vector<Value> outputs(const Program& program, const Arguments& args, const SamplingDomain&,
                             const Decision& decision) const override {
    if (decision[0] == kRoot) return {kRootLocation};
    if (decision[0] == kInline) return {kInlineLocation};
    return {loop_at_depth(program, args.block(0), decision[0])};
  }
};

}  // namespace

KindPtr sample_compute_location_kind() { return std::make_unique<SampleComputeLocation>(); }

LoopRV Schedule::sample_compute_location(BlockRV block) {
  return as_handle<LoopRV>(execute(kind("sample_compute_location"), {block}));
}

}  // namespace tunesmith
