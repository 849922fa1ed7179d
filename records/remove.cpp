// Deletes records.
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "store_impl.h"

namespace tunesmith {
namespace {

int64_t file_bytes(const std::filesystem::path& file) {
  std::error_code none;
  const auto bytes = std::filesystem::file_size(file, none);
  return none ? 0 : static_cast<int64_t>(bytes);
}

/// The size of the store and its log.
int64_t store_bytes(const sqlite::Database& database) {
  return file_bytes(database.path()) + file_bytes(database.path().string() + "-wal");
}

}  // namespace

RemovalReport RecordStore::remove(const RecordFilter& filter) {
  const std::lock_guard lock(impl_->mutex);
  sqlite::Database& database = impl_->database;
  const int64_t before = store_bytes(database);
  RemovalReport report;
  {
    sqlite::Transaction transaction(database);
    const Condition condition = condition_of(filter);
    auto records = database.prepare(
        fmt::format("DELETE FROM measurement WHERE seq IN (SELECT seq FROM record WHERE {})", condition.sql));
    condition.bind(records);
    records.run();
    report.records = static_cast<size_t>(database.changes());
    // Tasks, workloads, spaces, environments and runs stay:
    // they are small, and an active run refers to them.
    database.prepare("DELETE FROM program WHERE id NOT IN (SELECT program FROM measurement)").run();
    report.programs = static_cast<size_t>(database.changes());
    transaction.commit();
  }
  if (report.records == 0) return report;
  database.execute("VACUUM");
  database.execute("PRAGMA wal_checkpoint(TRUNCATE)");
  report.freed_bytes = before - store_bytes(database);
  return report;
}

}  // namespace tunesmith
