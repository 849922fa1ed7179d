// The tables of the store, each written and read by the .cpp that bears its name. Everything here is called
// with the store's mutex held, and what inserts in a transaction of the caller.
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
  Known,             // the same is here already
  Conflict,          // something else is here under its id
  UnknownReference,  // what it refers to is not here
  ContradictsItsRun  // a record whose run has another seed, space or environment
};

Insertion insert_environment(sqlite::Database& database, const Environment& environment);
/// Those without a definition, and spaces without their rules, are given them when they come.
Insertion insert_workload(sqlite::Database& database, const RecordedWorkload& workload);
Insertion insert_space(sqlite::Database& database, const RecordedSpace& space);
/// A run that had not ended is given its end when it comes.
Insertion insert_run(sqlite::Database& database, const RecordedRun& run);
/// `roof` is fit.
Insertion insert_roof(sqlite::Database& database, const RecordedRoof& roof);
/// `record` is fit.
Insertion insert_record(sqlite::Database& database, const Record& record);

std::optional<RecordedRun> find_run(sqlite::Database& database, std::string_view id);

/// A row, which may be damaged.
template <class Value>
struct Stored {
  std::string name;                          // as a person would name it
  std::variant<Value, std::string> content;  // the value, or what is wrong with it

  const Value* value() const { return std::get_if<Value>(&content); }
  const std::string& fault() const { return std::get<std::string>(content); }
};
template <class Value>
using Visit = std::function<void(const Stored<Value>&)>;

/// In order of insertion, or of ids. With their checksums compared.
void scan_environments(sqlite::Database& database, const Visit<Environment>& visit);
void scan_workloads(sqlite::Database& database, const Visit<RecordedWorkload>& visit);
void scan_spaces(sqlite::Database& database, const Visit<RecordedSpace>& visit);
/// Without those that only gather unattributed records.
void scan_runs(sqlite::Database& database, const Visit<RecordedRun>& visit);
/// In the order in which they were measured.
void scan_roofs(sqlite::Database& database, const Visit<RecordedRoof>& visit);
void scan_records(sqlite::Database& database, const RecordFilter& filter, const Visit<Record>& visit);

/// One row after the other, past pages that cannot be read. Answers how many rows may lie there.
int64_t scan_readable_records(sqlite::Database& database, const RecordFilter& filter,
                              const Visit<Record>& visit);

/// A condition on the view `record`, and its parameters.
struct Condition {
  std::string sql;
  std::vector<std::variant<std::string, int64_t>> parameters;

  void bind(sqlite::Statement& statement) const;
};
Condition condition_of(const RecordFilter& filter);

/// Columns of the view `record`, as read_record takes them.
extern const char* const kRecordColumns;
/// The record, or EnvironmentError when its row cannot be one. Its checksum is not compared.
Record sound_record(const sqlite::Statement& row, const sqlite::Database& database);

}  // namespace tunesmith
