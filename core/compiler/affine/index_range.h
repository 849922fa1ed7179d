// Does an index stay in its range? Proven where that can be, else tried out: what is reported is never a
// false alarm.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "tunesmith/ir/stmt.h"

namespace tunesmith {

/// True only when `index` lies in [0, extent) at every point of the ranges at which `predicate` holds.
bool proves_inside(const Expr& index, int64_t extent, std::span<const IterDomain> ranges,
                   const Expr& predicate);

/// A point ("i = 3, j = 0 gives 12") of the variables' ranges at which `predicate` holds and `index` lies
/// outside [0, extent); nothing when there is none, or none was found among some thousand points. An index
/// that loads from memory is not looked at.
std::optional<std::string> point_outside(const Expr& index, int64_t extent,
                                         std::span<const IterDomain> ranges, const Expr& predicate);

}  // namespace tunesmith
