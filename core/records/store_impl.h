// What the parts of the record store share. Every function here is called with the mutex held.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "records/sqlite.h"
#include "tunesmith/records/record_store.h"

namespace tunesmith {

/// A row of the record table. A damaged row may not make a record.
struct StoredRow {
  std::string id;
  std::variant<Record, std::string> content;  // the record, or what is wrong with it

  const Record* record() const { return std::get_if<Record>(&content); }
};

struct StoredEnvironment {
  std::string hash;
  std::variant<Environment, std::string> content;  // the environment, or what is wrong with it

  const Environment* environment() const { return std::get_if<Environment>(&content); }
};

/// A condition on the joined tables, and its parameters.
struct Condition {
  std::string sql;
  std::vector<std::variant<std::string, int64_t>> parameters;

  void bind(sqlite::Statement& statement) const;
};
Condition condition_of(const RecordFilter& filter);

struct RecordStore::Impl {
  enum class Insertion { Added, Known, Conflict, UnknownEnvironment };

  Impl(const std::filesystem::path& path, Mode mode);

  void insert_environment(const Environment& environment);
  /// The record is fit.
  Insertion insert(const Record& record);

  /// Rows in order of insertion. With `verify` the checksum of every row is compared.
  void scan(const RecordFilter& filter, bool verify, const std::function<void(const StoredRow&)>& visit);
  /// In order of their hashes.
  void scan_environments(const std::function<void(const StoredEnvironment&)>& visit);

  mutable std::mutex mutex;
  sqlite::Database database;

 private:
  int64_t workload_id(const Record& record);
  int64_t target_id(const Record& record);
};

/// Decodes the current row of a statement that selected kRecordColumns FROM kRecordTables.
StoredRow read_row(const sqlite::Statement& row, bool verify);

extern const char* const kRecordColumns;
extern const char* const kRecordTables;

}  // namespace tunesmith
