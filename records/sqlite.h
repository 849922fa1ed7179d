// A thin layer over SQLite: errors as exceptions, prepared statements.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "tunesmith/support/error.h"

struct sqlite3;
struct sqlite3_stmt;

namespace tunesmith::sqlite {

class Database;

/// A page of the file is unreadable; other pages may be readable.
class DamagedFile : public EnvironmentError {
 public:
  using EnvironmentError::EnvironmentError;
};

/// SQLite needs to write beside the file, and cannot.
class UnwritableFile : public EnvironmentError {
 public:
  using EnvironmentError::EnvironmentError;
};

/// A statement in use; returned to its database, reset, by the destructor.
class Statement {
 public:
  Statement(Database& database, sqlite3_stmt* handle);
  ~Statement();
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  /// Binds the next parameter, from left to right.
  Statement& bind(std::string_view text);
  Statement& bind(int64_t value);
  Statement& bind(double value);
  Statement& bind_null();
  /// Binds NULL if there is no value.
  template <class Value>
  Statement& bind_optional(const std::optional<Value>& value) {
    return value ? bind(*value) : bind_null();
  }

  /// True when there is a row.
  bool step();
  /// For statements that give no row.
  void run();

  bool is_null(int column) const;
  int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;

 private:
  Database& database_;
  sqlite3_stmt* handle_;
  int next_parameter_ = 1;
};

/// One connection, used by one thread at a time.
class Database {
 public:
  /// Waits up to `busy_ms` for locks of other connections.
  Database(const std::filesystem::path& path, bool create, int busy_ms);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  const std::filesystem::path& path() const { return path_; }
  /// The statement for `sql`, prepared at first use. Must not be requested again while in use.
  Statement prepare(std::string_view sql);
  /// Statements without parameters; rows are dropped.
  void execute(const char* sql);
  int64_t integer(std::string_view sql);
  /// Rows changed by the last statement.
  int64_t changes() const;
  int64_t last_row() const;

  /// Copies the committed content, page by page, to a new file. Others may write meanwhile; this connection
  /// may be in a transaction that has changed nothing yet.
  void copy_to(const std::filesystem::path& file) const;

  /// Makes this a copy of the committed content in memory. No statement may be in use.
  void move_to_memory();
  /// The same by way of a copy of the file and its log: SQLite cannot
  /// read a database with a write-ahead log in a read-only folder.
  void move_copy_to_memory();

  /// Switches to the write-ahead log, a persistent setting of the file.
  void use_write_ahead_log();

  /// Throws the exception that record_store.h documents for an SQLite error code.
  [[noreturn]] void fail(int code) const;

 private:
  std::filesystem::path path_;
  int busy_ms_;
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  struct Finalize {
    void operator()(sqlite3_stmt* handle) const;
  };
  std::unique_ptr<sqlite3, Close> handle_;
  std::map<std::string, std::unique_ptr<sqlite3_stmt, Finalize>, std::less<>> statements_;
};

/// Rolls back unless committed. A writing transaction waits for other writers; a reading one sees the file as
/// it was at its first read.
class Transaction {
 public:
  enum class Kind : uint8_t { Write, Read };
  explicit Transaction(Database& database, Kind kind = Kind::Write);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace tunesmith::sqlite
