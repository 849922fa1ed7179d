// The tables of the store, each accessed by the .cpp file of its name. Call
// everything with the store's mutex held, and insertions in a transaction.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sqlite.h"
#include "tunesmith/records/record_store.h"

namespace tunesmith {

enum class Insertion {
  Added,
  Known,             // the same is already stored
  Conflict,          // something else has its id
  UnknownReference,  // it refers to something that is not stored
  ContradictsItsRun  // a record with another seed, space or environment than its run
};

Insertion insert_environment(sqlite::Database& database, const Environment& environment);
/// Workloads without definition and spaces without rules are completed when these arrive.
Insertion insert_workload(sqlite::Database& database, const RecordedWorkload& workload);
Insertion insert_space(sqlite::Database& database, const RecordedSpace& space);
/// A run without an end is completed when its end arrives.
Insertion insert_run(sqlite::Database& database, const RecordedRun& run);
/// `roof` must be valid (roof_fault).
Insertion insert_roof(sqlite::Database& database, const RecordedRoof& roof);
/// `record` must be valid (record_fault).
Insertion insert_record(sqlite::Database& database, const Record& record);

std::optional<RecordedRun> find_run(sqlite::Database& database, std::string_view id);

/// A row, which may be damaged.
template <class Value>
struct Stored {
  std::string name;                          // for messages
  std::variant<Value, std::string> content;  // the value, or the problem

  const Value* value() const { return std::get_if<Value>(&content); }
  const std::string& fault() const { return std::get<std::string>(content); }
};
template <class Value>
using Visit = std::function<void(const Stored<Value>&)>;

/// In order of insertion, or of ids. Compares checksums.
void scan_environments(sqlite::Database& database, const Visit<Environment>& visit);
void scan_workloads(sqlite::Database& database, const Visit<RecordedWorkload>& visit);
void scan_spaces(sqlite::Database& database, const Visit<RecordedSpace>& visit);
void scan_runs(sqlite::Database& database, const Visit<RecordedRun>& visit);
/// In the order of measurement.
void scan_roofs(sqlite::Database& database, const Visit<RecordedRoof>& visit);
void scan_records(sqlite::Database& database, const RecordFilter& filter, const Visit<Record>& visit);

/// Scans row by row past unreadable pages. Returns the possible number of rows.
int64_t scan_readable_records(sqlite::Database& database, const RecordFilter& filter,
                              const Visit<Record>& visit);

/// A condition on the view `record`, and its parameters.
struct Condition {
  std::string sql;
  std::vector<std::variant<std::string, int64_t>> parameters;

  void bind(sqlite::Statement& statement) const;
};
Condition condition_of(const RecordFilter& filter);

/// Columns of the view `record`, in the order of read_record.
extern const char* const kRecordColumns;
/// The record, or EnvironmentError if the row is damaged. Does not compare the checksum.
Record sound_record(const sqlite::Statement& row, const sqlite::Database& database);

}  // namespace tunesmith
