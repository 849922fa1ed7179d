// Reads and checks trees saved by XGBoost, which crashes or exhausts memory on damaged data.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tunesmith::xgboost {

/// Rewrites the trees of `saved`, which split by `columns` columns, so that XGBoost can load them safely.
/// Throws std::runtime_error with the first problem.
std::string checked_trees(std::string_view saved, size_t columns);

}  // namespace tunesmith::xgboost
