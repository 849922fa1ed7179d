// Is the store sound? Looks at everything and reports all faults, not the first.
#include <fmt/format.h>

#include "records/store_impl.h"
#include "tunesmith/support/error.h"

namespace tunesmith {

namespace {
void check_database(sqlite::Database& database, std::vector<std::string>& faults) {
  auto integrity = database.prepare("PRAGMA integrity_check");
  while (integrity.step()) {
    if (const std::string line = integrity.text(0); line != "ok") faults.push_back(line);
  }
  auto references = database.prepare("PRAGMA foreign_key_check");
  while (references.step()) {
    faults.push_back(fmt::format("row {} of table {} refers to a {} that is not there", references.integer(1),
                                 references.text(0), references.text(2)));
  }
}
}  // namespace

CheckReport RecordStore::check(const TraceValidator& validator) const {
  const std::lock_guard lock(impl_->mutex);
  CheckReport report;
  try {
    check_database(impl_->database, report.faults);
    impl_->scan_environments([&](const StoredEnvironment& stored) {
      ++report.environments;
      if (const auto* fault = std::get_if<std::string>(&stored.content)) {
        report.faults.push_back(fmt::format("environment {}: {}", stored.hash, *fault));
      }
    });
    impl_->scan({}, true, [&](const StoredRow& row) {
      ++report.records;
      const Record* record = row.record();
      std::string fault;
      if (record == nullptr) {
        fault = std::get<std::string>(row.content);
      } else if (validator) {
        fault = validator(*record);
      }
      if (!fault.empty()) report.faults.push_back(fmt::format("record '{}': {}", row.id, fault));
    });
  } catch (const EnvironmentError& error) {
    // A page that cannot be read ends the walk; what was found up to it is still told.
    report.faults.emplace_back(error.what());
  }
  return report;
}

}  // namespace tunesmith
