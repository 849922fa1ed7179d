#include "tunesmith/support/installation.h"

#include <dlfcn.h>

#include "tunesmith/support/error.h"

namespace tunesmith {

std::filesystem::path library_file() {
  Dl_info info{};
  const int found = dladdr(reinterpret_cast<const void*>(&library_file), &info);
  check_invariant(found != 0 && info.dli_fname != nullptr, "a shared library knows its own file");
  return std::filesystem::canonical(info.dli_fname);
}

std::filesystem::path library_folder() { return library_file().parent_path(); }

}  // namespace tunesmith
