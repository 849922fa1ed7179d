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
  std::function<void(const std::string& fault)> on_damage;  // null: what is damaged throws

  /// Nothing where it is damaged, and on_damage was told.
  std::optional<Record> readable_record(const sqlite::Statement& row) const;
};

}  // namespace tunesmith
