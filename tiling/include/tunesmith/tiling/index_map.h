// Index maps as text: "(d0, d1) -> (d1, d0 // 4)".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tunesmith {
inline namespace stable {

/// "d0", "d1", ...
inline std::vector<std::string> axis_names(size_t count, std::string_view prefix = "d") {
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) names.push_back(std::string(prefix) + std::to_string(i));
  return names;
}

/// From the names `axes` to `results`, which are expressions of them.
inline std::string index_map(const std::vector<std::string>& axes, const std::vector<std::string>& results) {
  const auto listed = [](const std::vector<std::string>& items) {
    std::string text;
    for (const std::string& item : items) text += (text.empty() ? "" : ", ") + item;
    return "(" + text + ")";
  };
  return listed(axes) + " -> " + listed(results);
}

/// Keeps the axes at these positions, in their order.
inline std::string projection(const std::vector<std::string>& axes, const std::vector<size_t>& positions) {
  std::vector<std::string> kept;
  for (const size_t position : positions) kept.push_back(axes[position]);
  return index_map(axes, kept);
}

}  // namespace stable
}  // namespace tunesmith
