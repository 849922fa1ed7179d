// An index map as a trace writes it: "(i, j) -> (i // 16, j, i % 16)".
#pragma once

#include <string_view>

#include "affine/index_map.h"

namespace tunesmith {

/// Sums, products with constants, // and % by constants, over named parameters. Parentheses around the two
/// lists may be left out. Throws ScheduleError naming the column.
IndexMap parse_index_map(std::string_view text, std::string_view primitive);

}  // namespace tunesmith
