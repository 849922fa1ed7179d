#pragma once

#include <mutex>

#include "sqlite.h"
#include "tables.h"
#include "tunesmith/records/record_store.h"

namespace tunesmith {

struct RecordStore::Impl {
  Impl(const std::filesystem::path& path, Mode mode);

  mutable std::mutex mutex;
  sqlite::Database database;
  std::optional<MigrationReport> migration;
};

}  // namespace tunesmith
