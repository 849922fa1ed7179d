#include "tunesmith/target/feature_column.h"

#include <algorithm>

#include <fmt/format.h>

namespace tunesmith {

std::string column_fault(const FeatureColumn& column, std::span<const FeatureColumn> before) {
  const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; };
  if (column.name.empty() || !std::ranges::all_of(column.name, fits))
    return fmt::format("'{}' is not a column name: expected lower-case letters, digits and underscores",
                       column.name);
  if (std::ranges::find(before, column.name, &FeatureColumn::name) != before.end())
    return fmt::format("column '{}' already exists", column.name);
  if (column.unit.empty() || column.meaning.empty())
    return fmt::format("the column '{}' has no {}", column.name, column.unit.empty() ? "unit" : "meaning");
  return "";
}

}  // namespace tunesmith
