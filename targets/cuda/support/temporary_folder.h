// A folder that goes when its owner goes.
#pragma once

#include <filesystem>

namespace tunesmith::cuda {

class TemporaryFolder {
 public:
  /// A new folder among the system's temporary files. Throws EnvironmentError when none can be made.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace tunesmith::cuda
