#include "scratch_store.h"

#include <unistd.h>

namespace tunesmith::cli {
namespace {

namespace fs = std::filesystem;

/// Returns the system's folder in memory; empty where there is none: then the store is a temporary file.
fs::path folder_in_memory() {
  const fs::path memory = "/dev/shm";
  std::error_code error;
  return fs::is_directory(memory, error) && access(memory.c_str(), W_OK) == 0 ? memory : fs::path();
}

}  // namespace

ScratchStore::ScratchStore()
    : folder_(ScratchFolder::temporary(folder_in_memory())), store_(folder_.path() / "records.db") {}

}  // namespace tunesmith::cli
