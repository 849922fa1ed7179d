// The columns: name, unit, meaning and value of each, in one place.
#pragma once

#include <functional>

#include "store_facts.h"

namespace tunesmith::features {

/// Calls `append` with the numbers of one row, in the order of feature_columns().
void append_row(const StoreFacts& facts, const std::function<void(double)>& append);

}  // namespace tunesmith::features
