// Limits the size of expressions that are repeatedly inlined.
#pragma once

#include <optional>

#include "analysis/loop_tools.h"
#include "tunesmith/ir/stmt.h"

namespace tunesmith {

/// Would the expressions of `reader` have too many nodes with `value` in the place of each load of `buffer`?
/// A chain of stages that each read the one before twice would have as many as two to the power of its
/// length, and whatever walks them would never end.
std::optional<Refusal> inlined_size_refusal(const Block& reader, const Buffer& buffer, const Expr& value);

}  // namespace tunesmith
