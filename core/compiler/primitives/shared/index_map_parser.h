// Parses index maps in traces, such as "(i, j) -> (i // 16, j, i % 16)".
#pragma once

#include <string_view>

#include "affine/index_map.h"

namespace tunesmith {

/// Results are sums, products with constants, // and % by constants, over the named parameters. The
/// parentheses of both lists are optional. Throws ScheduleError with the column.
IndexMap parse_index_map(std::string_view text, std::string_view primitive);

}  // namespace tunesmith
