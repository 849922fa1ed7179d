// From the elements of a buffer back to the iterations that touch them: the one inverse of index arithmetic.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tunesmith/affine/iter_map.h"
#include "tunesmith/affine/region.h"

namespace tunesmith {

/// An index as a sum of digits of `domains` and of what is none of them, which has its range in `analyzer`.
struct IndexForm {
  std::vector<IterSplit> terms;  // by falling scale
  Interval rest{0, 0};
};

/// Nothing when the index is of another form.
std::optional<IndexForm> index_form(const Expr& index, std::span<const IterDomain> domains,
                                    const Analyzer& analyzer);

/// For each variable the range of its values with which `indices` meet `region`; clipped to its domain where
/// that can be shown. The whole domain for a variable that the region does not bound: the answer may
/// be larger than needed, never smaller. `analyzer` knows what the region's mins stand on.
std::vector<DimRange> solve_iters(std::span<const IterDomain> domains, std::span<const Expr> indices,
                                  const Region& region, const Analyzer& analyzer);

/// The variables' values at which `indices` are equal to `values`; nothing when they cannot be told.
/// Variables of extent 1 that are not in just one index are 0.
std::optional<std::vector<Expr>> invert(std::span<const IterDomain> domains, std::span<const Expr> indices,
                                        std::span<const Expr> values);

}  // namespace tunesmith
