#include "support/support_folder.h"

#include <cstdlib>
#include <system_error>

#include <fmt/format.h>

#include "tunesmith/support/error.h"

namespace tunesmith::cuda {

std::filesystem::path support_folder() {
  std::filesystem::path folder;
  std::error_code error;  // whatever it is, the folder is not found
  if (const char* chosen = std::getenv("TUNESMITH_CUDA_FOLDER"); chosen != nullptr && *chosen != '\0') {
    folder = chosen;
  } else {
    // The build tree and an installation have the same layout: this program's folder is bin.
    folder =
        std::filesystem::read_symlink("/proc/self/exe", error).parent_path() / TUNESMITH_CUDA_FROM_PROGRAM;
  }
  folder = folder.lexically_normal();
  if (!std::filesystem::exists(folder / "architectures.yaml", error)) {
    throw EnvironmentError(
        fmt::format("{} has no architectures.yaml; set TUNESMITH_CUDA_FOLDER to the folder "
                    "lib/tunesmith/cuda of an installation",
                    folder.string()));
  }
  return folder;
}

}  // namespace tunesmith::cuda
