// A folder that its owner's destructor deletes.
#pragma once

#include <filesystem>

namespace tunesmith::cuda {

class TemporaryFolder {
 public:
  /// Creates a folder among the system's temporary files. Throws EnvironmentError.
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(TemporaryFolder&& other) noexcept;
  TemporaryFolder& operator=(TemporaryFolder&& other) noexcept;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace tunesmith::cuda
