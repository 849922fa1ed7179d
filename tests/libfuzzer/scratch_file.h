// A file for readers that take a path.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "temporary_folder.h"

namespace tunesmith::test {

inline const std::filesystem::path& scratch_folder() {
  static const TemporaryFolder folder;
  return folder.path();
}

/// A file with these bytes, until the next call.
inline std::filesystem::path scratch_file(const std::string& bytes, const std::string& name = "input") {
  std::filesystem::path path = scratch_folder() / name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

}  // namespace tunesmith::test
