// The trees that XGBoost has saved, read by ourselves first: of damaged ones it faults, or takes memory
// without end.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tunesmith::xgboost {

/// What XGBoost may load: the trees of `saved`, which split by `columns` columns, written anew. Throws
/// std::runtime_error with the first fault.
std::string checked_trees(std::string_view saved, size_t columns);

}  // namespace tunesmith::xgboost
