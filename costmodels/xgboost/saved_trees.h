// Reads and checks the trees saved by XGBoost,
// which crashes or exhausts memory on damaged data.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tunesmith::xgboost {

/// Trees that XGBoost can safely load: those of `saved`, which split by `columns`
/// columns, written anew. Throws std::runtime_error with the first problem.
std::string checked_trees(std::string_view saved, size_t columns);

}  // namespace tunesmith::xgboost
