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
  /// The predicate of legal tuples in this domain.
  virtual LegalTile legal_in(const SamplingDomain& domain) const = 0;
  std::vector<Value> outputs(const Program& program, const Arguments& args, const SamplingDomain& domain,
                             const Decision& decision) const final;
};

/// The domain of tuples of `parts` factors of the loop's extent. Throws ScheduleError if it is empty.
SamplingDomain tile_domain(const Program& program, LoopId loop, int64_t parts, std::string_view primitive);

/// Does `tile` have the domain's number of factors, with its extent as their product?
bool is_tile_of(const SamplingDomain& domain, const Decision& tile);

}  // namespace tunesmith
