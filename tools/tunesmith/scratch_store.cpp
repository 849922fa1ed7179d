#include "scratch_store.h"

#include <cstdlib>
#include <memory>
#include <string>

#include <fmt/format.h>
#include <unistd.h>

#include <tunesmith/support/error.h>

namespace tunesmith::cli {

namespace fs = std::filesystem;

ScratchStore::ScratchStore() {
  const fs::path memory = "/dev/shm";
  std::error_code error;
  const bool writable = fs::is_directory(memory, error) && access(memory.c_str(), W_OK) == 0;
  const fs::path parent = writable ? memory : fs::temp_directory_path();
  std::string name = (parent / "tunesmith-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr)
    throw EnvironmentError(fmt::format("no folder can be made in {}", parent.string()));
  folder_ = name;
  store_ = std::make_unique<RecordStore>(folder_ / "records.db");
}

ScratchStore::~ScratchStore() {
  store_.reset();
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

}  // namespace tunesmith::cli
