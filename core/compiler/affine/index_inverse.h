// Inverts index arithmetic: from elements of a buffer to the iterations that access them.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tunesmith/affine/iter_map.h"
#include "tunesmith/affine/region.h"

namespace tunesmith {

/// An index as a sum of digits of the domains' variables, and the bounds of its other terms.
struct IndexForm {
  std::vector<IterSplit> terms;  // by decreasing scale
  Interval rest{0, 0};
};

/// Nothing if the index has another form. `analyzer` has the ranges of other variables.
std::optional<IndexForm> index_form(const Expr& index, std::span<const IterDomain> domains,
                                    const Analyzer& analyzer);

/// For each variable the range of values for which `indices` may lie in `region`, clipped to its domain if
/// that can be proved; the whole domain for a variable that the region does not bound. A sound
/// over-approximation. `analyzer` has the ranges of the variables in the region's mins.
std::vector<DimRange> solve_iters(std::span<const IterDomain> domains, std::span<const Expr> indices,
                                  const Region& region, const Analyzer& analyzer);

/// The variables' values for which `indices` equal `values`; nothing if they are not determined. Variables of
/// extent 1 that occur in no index, or in several, are 0.
std::optional<std::vector<Expr>> invert(std::span<const IterDomain> domains, std::span<const Expr> indices,
                                        std::span<const Expr> values);

}  // namespace tunesmith
