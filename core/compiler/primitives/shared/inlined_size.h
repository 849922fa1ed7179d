// Limits the size of expressions that are repeatedly inlined.
#pragma once

#include <optional>

#include "analysis/loop_tools.h"
#include "tunesmith/ir/stmt.h"

namespace tunesmith {

/// Would the expressions of `reader` have too many nodes with `value` substituted for each load of `buffer`?
/// Inlining a chain of stages that each read their predecessor twice grows expressions exponentially.
std::optional<Refusal> inlined_size_refusal(const Block& reader, const Buffer& buffer, const Expr& value);

}  // namespace tunesmith
