// The box of elements accessed while some variables run over their ranges and the others are fixed.
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

/// The range of one index when the `moving` variables run over their ranges in `analyzer`
/// and all others are fixed. Exact for a linear index; a sound over-approximation for
/// floor divisions and mods of both sorts. Nothing when no constant extent can be proved.
std::optional<DimRange> relax(const Expr& index, std::span<const Var> moving, const Analyzer& analyzer);
/// All dimensions; [0, shape[d]) for a dimension whose range cannot be proved.
Region relax_access(const Buffer& buffer, std::span<const Expr> indices, std::span<const Var> moving,
                    const Analyzer& analyzer);
/// A box around both, exact when the difference of the mins
/// is constant; falls back to [0, shape[d]) in a dimension.
Region unite(const Region& a, const Region& b, const Buffer& buffer, const Analyzer& analyzer);
/// True when `inner` lies within `outer` for every value of the variables.
bool covers(const Region& outer, const Region& inner, const Analyzer& analyzer);

}  // namespace tunesmith
#pragma GCC visibility pop
