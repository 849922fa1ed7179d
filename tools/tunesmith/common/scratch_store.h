// A temporary record store.
#pragma once

#include <tunesmith/records/record_store.h>
#include <tunesmith/support/files.h>

namespace tunesmith::cli {

/// In memory if the system has a folder for that; deleted by the destructor.
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
