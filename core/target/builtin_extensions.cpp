#include <algorithm>

#include <fmt/format.h>

#include "support/installation.h"
#include "tunesmith/target/extension_file.h"

namespace tunesmith {
namespace {

std::filesystem::path installed_extensions() {
  return (library_folder() / TUNESMITH_EXTENSIONS_FROM_LIBRARY).lexically_normal();
}

/// In the source tree, each has the folder of its target.
std::filesystem::path source_of(const std::string& id) {
  return std::filesystem::path(TUNESMITH_EXTENSIONS_SOURCE) / id / fmt::format("{}.yaml", id);
}

}  // namespace

std::filesystem::path builtin_extension(std::string_view id) {
  const auto installed = installed_extensions() / fmt::format("{}.yaml", id);
  if (std::filesystem::is_regular_file(installed)) return installed;
  const auto source = source_of(std::string(id));
  return std::filesystem::is_regular_file(source) ? source : std::filesystem::path();
}

std::vector<std::string> builtin_extensions() {
  std::vector<std::string> names;
  std::error_code none;  // a folder that is not there has none
  for (const auto& entry : std::filesystem::directory_iterator(installed_extensions(), none)) {
    if (entry.path().extension() == ".yaml") names.push_back(entry.path().stem().string());
  }
  for (const auto& entry : std::filesystem::directory_iterator(TUNESMITH_EXTENSIONS_SOURCE, none)) {
    const std::string id = entry.path().filename().string();
    if (std::filesystem::is_regular_file(source_of(id))) names.push_back(id);
  }
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  return names;
}

}  // namespace tunesmith
