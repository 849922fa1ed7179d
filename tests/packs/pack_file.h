// Paths of the packs' files in packs/.
#pragma once

#include <filesystem>
#include <string>

namespace tunesmith {

inline std::filesystem::path pack_file(const std::string& pack) {
  return std::filesystem::path(TUNESMITH_SOURCE_DIR) / "packs" / pack / (pack + ".yaml");
}

}  // namespace tunesmith
