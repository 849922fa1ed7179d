// Boxes of elements that are accessed while some variables run over their ranges and others are fixed.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tunesmith/affine/simplify.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// [min, min + extent) with a constant extent; `min` is an expression of the fixed variables.
struct DimRange {
  Expr min;
  int64_t extent = 1;
};
using Region = std::vector<DimRange>;

/// The range of one index while the `moving` variables run over their ranges in `analyzer` and all others are
/// fixed. Exact for a linear index; a sound over-approximation for floor divisions and modulos that mix both.
/// Nothing if no constant extent can be proved.
std::optional<DimRange> relax(const Expr& index, std::span<const Var> moving, const Analyzer& analyzer);
/// The ranges of all dimensions; [0, shape[d]) if a range cannot be proved.
Region relax_access(const Buffer& buffer, std::span<const Expr> indices, std::span<const Var> moving,
                    const Analyzer& analyzer);
/// A box that contains both. In a dimension where the difference of the mins is not constant, [0, shape[d]).
Region unite(const Region& a, const Region& b, const Buffer& buffer, const Analyzer& analyzer);
/// Does `outer` contain `inner` for all values of the variables? False unless proved.
bool covers(const Region& outer, const Region& inner, const Analyzer& analyzer);

}  // namespace tunesmith
#pragma GCC visibility pop
