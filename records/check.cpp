// Is the store sound? Looks at everything and reports all faults, not the first.
#include <fmt/format.h>

#include "store_impl.h"
#include "tunesmith/support/error.h"

namespace tunesmith {

namespace {
void check_database(sqlite::Database& database, std::vector<std::string>& faults) {
  auto integrity = database.prepare("PRAGMA integrity_check");
  while (integrity.step()) {
    if (const std::string line = integrity.text(0); line != "ok")
      faults.push_back(fmt::format("the file is damaged; SQLite says: {}", line));
  }
  auto references = database.prepare("PRAGMA foreign_key_check");
  while (references.step()) {
    faults.push_back(fmt::format("row {} of table {} refers to a missing {}", references.integer(1),
                                 references.text(0), references.text(2)));
  }
}

}  // namespace

CheckReport RecordStore::check(const TraceValidator& validator) const {
  const std::lock_guard lock(impl_->mutex);
  sqlite::Database& database = impl_->database;
  CheckReport report;
  const auto note = [&](const auto& stored) {
    if (!stored.value()) report.faults.push_back(fmt::format("{}: {}", stored.name, stored.fault()));
  };
  try {
    check_database(database, report.faults);
    scan_environments(database, [&](const auto& stored) {
      ++report.environments;
      note(stored);
    });
    scan_workloads(database, note);
    scan_spaces(database, note);
    scan_runs(database, note);
    scan_roofs(database, note);
    scan_records(database, {}, [&](const auto& stored) {
      ++report.records;
      note(stored);
      const Record* const record = stored.value();
      const std::string fault = record != nullptr && validator ? validator(*record) : "";
      if (!fault.empty()) report.faults.push_back(fmt::format("record '{}': {}", record->id, fault));
    });
  } catch (const EnvironmentError& error) {
    // An unreadable page ends the scan; problems found so far are still reported.
    report.faults.emplace_back(error.what());
  }
  return report;
}

}  // namespace tunesmith
