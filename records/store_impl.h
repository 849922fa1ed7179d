#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "sqlite.h"
#include "tables.h"
#include "tunesmith/records/record_store.h"

namespace tunesmith {

struct RecordStore::Impl {
  Impl(const std::filesystem::path& path, Mode mode);

  mutable std::mutex mutex;
  sqlite::Database database;
  std::optional<MigrationReport> migration;
  std::function<void(const std::string& fault)> on_damage;  // null: damaged rows throw

  /// Nothing if it is damaged, after calling on_damage.
  std::optional<Record> readable_record(const sqlite::Statement& row) const;
};

}  // namespace tunesmith
