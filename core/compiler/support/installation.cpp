#include "tunesmith/support/installation.h"

#include <cerrno>
#include <cstring>

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include "tunesmith/support/error.h"

namespace tunesmith {

std::filesystem::path library_file() {
  Dl_info info{};
  const int found = dladdr(reinterpret_cast<const void*>(&library_file), &info);
  check_invariant(found != 0 && info.dli_fname != nullptr, "a shared library knows its own file");
  return std::filesystem::canonical(info.dli_fname);
}

std::filesystem::path library_folder() { return library_file().parent_path(); }

std::filesystem::path worker_program() {
  std::filesystem::path program = library_folder().parent_path() / "bin" / "tunesmith-worker";
  if (access(program.c_str(), X_OK) != 0) {
    throw EnvironmentError(fmt::format("{}: cannot be executed: {}; the worker belongs to the installation",
                                       program.string(), std::strerror(errno)));
  }
  return program;
}

}  // namespace tunesmith
