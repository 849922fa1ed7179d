// A record store for a run whose records nobody keeps.
#pragma once

#include <tunesmith/records/record_store.h>
#include <tunesmith/support/files.h>

namespace tunesmith::cli {

/// In memory where the system has a folder for that; gone with this object.
class ScratchStore {
 public:
  /// Throws EnvironmentError.
  ScratchStore();

  RecordStore& operator*() { return store_; }
  RecordStore* operator->() { return &store_; }

 private:
  ScratchFolder folder_;
  RecordStore store_;
};

}  // namespace tunesmith::cli
