// A record store for a run whose records nobody keeps.
#pragma once

#include <filesystem>
#include <memory>

#include <tunesmith/records/record_store.h>

namespace tunesmith::cli {

/// In memory where the system has a folder for that; gone with this object.
class ScratchStore {
 public:
  /// Throws EnvironmentError.
  ScratchStore();
  ~ScratchStore();
  ScratchStore(const ScratchStore&) = delete;
  ScratchStore& operator=(const ScratchStore&) = delete;

  RecordStore& operator*() { return *store_; }
  RecordStore* operator->() { return store_.get(); }

 private:
  std::filesystem::path folder_;
  std::unique_ptr<RecordStore> store_;
};

}  // namespace tunesmith::cli
