// Checks that indices stay in range, by proof and by trying points. point_outside() reports no false
// positives.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "tunesmith/ir/stmt.h"

namespace tunesmith {

/// True only if `index` is in [0, extent) at every point of the ranges where `predicate` holds.
bool proves_inside(const Expr& index, int64_t extent, std::span<const IterDomain> ranges,
                   const Expr& predicate);

/// A point of the variables' ranges ("i = 3, j = 0 gives 12") where `predicate` holds and `index` is outside
/// [0, extent); nothing if none was found among some thousand points, or the index loads from memory.
std::optional<std::string> point_outside(const Expr& index, int64_t extent,
                                         std::span<const IterDomain> ranges, const Expr& predicate);

}  // namespace tunesmith
