#include "support/temporary_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "tunesmith/support/error.h"

namespace tunesmith::cuda {

TemporaryFolder::TemporaryFolder() {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  if (error)
    throw EnvironmentError(fmt::format("no folder for temporary files (TMPDIR): {}", error.message()));
  std::string name = (parent / "tunesmith-cuda-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr)
    throw EnvironmentError(fmt::format("{}: {}", name, std::strerror(errno)));
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;  // a temporary file that stays does no harm
  if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
}

TemporaryFolder::TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}

TemporaryFolder& TemporaryFolder::operator=(TemporaryFolder&& other) noexcept {
  std::swap(path_, other.path_);
  return *this;
}

}  // namespace tunesmith::cuda
