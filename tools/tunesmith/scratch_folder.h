// A folder that is removed with the object that stands for it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

#include <fmt/format.h>

#include <tunesmith/support/error.h>

namespace tunesmith::cli {

class ScratchFolder {
 public:
  /// A new one among the system's temporary files. Throws EnvironmentError.
  static ScratchFolder temporary() {
    const std::filesystem::path parent = std::filesystem::temp_directory_path();
    std::string pattern = (parent / "tunesmith-network-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr)
      throw EnvironmentError(fmt::format("no folder can be made in {}", parent.string()));
    return ScratchFolder(pattern);
  }
  /// This one, which need not exist; a process that was killed may have left it.
  explicit ScratchFolder(std::filesystem::path path) : path_(std::move(path)) {}
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace tunesmith::cli
