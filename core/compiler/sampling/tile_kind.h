// Helpers of the tile sampling kinds.
#pragma once

#include <string_view>

#include "sampling/factorization.h"
#include "trace/kind_builder.h"
#include "tunesmith/ir/program.h"
#include "tunesmith/trace/instruction.h"

namespace tunesmith {

/// Draws tuples of factors of a loop's extent.
class TileKind : public SamplingKindBase {
 public:
  using SamplingKindBase::SamplingKindBase;

  std::optional<Decision> mutate(const SamplingDomain& domain, const Decision& current,
                                 RandomStream& random) const final;
  std::vector<Decision> enumerate(const SamplingDomain& domain, const Decision& current) const final;
  std::vector<double> encode(const SamplingDomain& domain, const Decision& decision) const final;

 protected:
  /// Which tuples of the domain's extent and number of factors may be decided.
  virtual LegalTile legal_in(const SamplingDomain& domain) const = 0;
  std::vector<Value> outputs(const Program& program, const Arguments& args, const SamplingDomain& domain,
                             const Decision& decision) const final;
};

/// The domain of tuples of `parts` factors of the loop's extent. Throws ScheduleError when it is empty.
SamplingDomain tile_domain(const Program& program, LoopId loop, int64_t parts, std::string_view primitive);

/// Is `tile` a tuple of as many factors as the domain wants, with its extent as product?
bool is_tile_of(const SamplingDomain& domain, const Decision& tile);

}  // namespace tunesmith
