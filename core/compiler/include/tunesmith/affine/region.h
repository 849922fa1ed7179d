// The box of elements touched when some variables run over their ranges and others stand still.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tunesmith/affine/simplify.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// [min, min + extent) with a constant extent; `min` is over the variables that stand still.
struct DimRange {
  Expr min;
  int64_t extent = 1;
};
using Region = std::vector<DimRange>;

/// Range of one index when `moving` variables run over their ranges in `analyzer` and all other variables
/// stand still. A linear index gives an exact box; floor divisions and mods that mix both sorts give a sound
/// larger one. Nothing when no constant extent can be shown.
std::optional<DimRange> relax(const Expr& index, std::span<const Var> moving, const Analyzer& analyzer);
/// All dimensions; where a dimension cannot be shown, [0, shape[d]).
Region relax_access(const Buffer& buffer, std::span<const Expr> indices, std::span<const Var> moving,
                    const Analyzer& analyzer);
/// The smallest box this reasoning finds around both (exact when the difference of the mins is constant);
/// falls back to [0, shape[d]) for a dimension.
Region unite(const Region& a, const Region& b, const Buffer& buffer, const Analyzer& analyzer);
/// True when `inner` lies within `outer` for every value of the variables.
bool covers(const Region& outer, const Region& inner, const Analyzer& analyzer);

}  // namespace tunesmith
#pragma GCC visibility pop
