// Ranges of extents as users write them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "tunesmith/workload/workload.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// "1..512" or "1..512:typical=128,384"; nothing where the text is no range. `what` has it: "parameter 'n' of
/// gmm". Throws UserError.
std::optional<ParamRange> read_range(std::string_view text, const std::string& what);

}  // namespace tunesmith
#pragma GCC visibility pop
