// Parses ranges of extents.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tunesmith/workload/workload.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Parses "1..512" or "1..512:typical=128,384"; nothing if the text is not a range. Throws UserError for an
/// invalid range of `what`, such as "parameter 'n' of gmm".
std::optional<ParamRange> read_range(std::string_view text, const std::string& what);

}  // namespace tunesmith
#pragma GCC visibility pop
