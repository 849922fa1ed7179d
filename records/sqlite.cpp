#include "sqlite.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <fmt/format.h>
#include <sqlite3.h>

namespace tunesmith::sqlite {

Statement::Statement(Database& database, sqlite3_stmt* handle) : database_(database), handle_(handle) {}

Statement::~Statement() {
  sqlite3_reset(handle_);
  sqlite3_clear_bindings(handle_);
}

Statement& Statement::bind(std::string_view text) {
  const int code = sqlite3_bind_text64(handle_, next_parameter_++, text.data(), text.size(), SQLITE_TRANSIENT,
                                       SQLITE_UTF8);
  if (code != SQLITE_OK) database_.fail(code);
  return *this;
}

Statement& Statement::bind(int64_t value) {
  if (const int code = sqlite3_bind_int64(handle_, next_parameter_++, value); code != SQLITE_OK)
    database_.fail(code);
  return *this;
}

Statement& Statement::bind(double value) {
  if (const int code = sqlite3_bind_double(handle_, next_parameter_++, value); code != SQLITE_OK)
    database_.fail(code);
  return *this;
}

Statement& Statement::bind_null() {
  if (const int code = sqlite3_bind_null(handle_, next_parameter_++); code != SQLITE_OK) database_.fail(code);
  return *this;
}

bool Statement::step() {
  const int code = sqlite3_step(handle_);
  if (code == SQLITE_ROW) return true;
  if (code != SQLITE_DONE) database_.fail(code);
  return false;
}

void Statement::run() {
  while (step()) {
  }
}

bool Statement::is_null(int column) const { return sqlite3_column_type(handle_, column) == SQLITE_NULL; }

int64_t Statement::integer(int column) const { return sqlite3_column_int64(handle_, column); }

double Statement::real(int column) const { return sqlite3_column_double(handle_, column); }

std::string Statement::text(int column) const {
  const auto* text = static_cast<const char*>(sqlite3_column_blob(handle_, column));
  return text == nullptr ? std::string{}
                         : std::string(text, static_cast<size_t>(sqlite3_column_bytes(handle_, column)));
}

void Database::Close::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }

void Database::Finalize::operator()(sqlite3_stmt* handle) const { sqlite3_finalize(handle); }

namespace {
/// The error code is that of the destination.
void copy_between(sqlite3* source, sqlite3* destination) {
  sqlite3_backup* backup = sqlite3_backup_init(destination, "main", source, "main");
  if (backup == nullptr) return;
  sqlite3_backup_step(backup, -1);
  sqlite3_backup_finish(backup);
}
}  // namespace

Database::Database(const std::filesystem::path& path, bool create, int busy_ms)
    : path_(path), busy_ms_(busy_ms) {
  sqlite3* handle = nullptr;
  const int flags =
      SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0) | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  const int code = sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
  handle_.reset(handle);
  if (code != SQLITE_OK) fail(code);
  sqlite3_busy_timeout(handle, busy_ms);
}

Database::~Database() = default;

Statement Database::prepare(std::string_view sql) {
  auto found = statements_.find(sql);
  if (found == statements_.end()) {
    sqlite3_stmt* statement = nullptr;
    const int code = sqlite3_prepare_v3(handle_.get(), sql.data(), static_cast<int>(sql.size()),
                                        SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
    if (code != SQLITE_OK) fail(code);
    found = statements_.emplace(std::string(sql), statement).first;
  }
  return {*this, found->second.get()};
}

void Database::execute(const char* sql) {
  if (const int code = sqlite3_exec(handle_.get(), sql, nullptr, nullptr, nullptr); code != SQLITE_OK)
    fail(code);
}

int64_t Database::integer(std::string_view sql) {
  Statement statement = prepare(sql);
  check_invariant(statement.step(), "a query for a number gives a row");
  return statement.integer(0);
}

int64_t Database::changes() const { return sqlite3_changes64(handle_.get()); }

int64_t Database::last_row() const { return sqlite3_last_insert_rowid(handle_.get()); }

void Database::use_write_ahead_log() {
  // The switch takes an exclusive lock without the busy handler, so concurrent creators must retry.
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(busy_ms_);
  for (;;) {
    const int code = sqlite3_exec(handle_.get(), "PRAGMA journal_mode = WAL", nullptr, nullptr, nullptr);
    if (code == SQLITE_OK) break;
    if ((code & 0xff) != SQLITE_BUSY || std::chrono::steady_clock::now() > deadline) fail(code);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  Statement mode = prepare("PRAGMA journal_mode");
  if (!mode.step() || mode.text(0) != "wal") {
    throw EnvironmentError(
        fmt::format("{}: this file system cannot hold a record store (no write-ahead log); put it "
                    "on a local disk",
                    path_.string()));
  }
}

void Database::copy_to(const std::filesystem::path& file) const {
  // SQLite does not copy from a connection that is in a write transaction.
  const Database source(path_, false, busy_ms_);
  const Database destination(file, true, busy_ms_);
  copy_between(source.handle_.get(), destination.handle_.get());
  const int code = sqlite3_extended_errcode(destination.handle_.get());
  if (code != SQLITE_OK && code != SQLITE_DONE) destination.fail(code);
}

void Database::move_to_memory() {
  statements_.clear();
  sqlite3* memory = nullptr;
  const int code = sqlite3_open_v2(
      ":memory:", &memory, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
  std::unique_ptr<sqlite3, Close> destination(memory);
  if (code != SQLITE_OK) fail(code);
  copy_between(handle_.get(), memory);
  if (const int copied = sqlite3_extended_errcode(memory); copied != SQLITE_OK && copied != SQLITE_DONE)
    fail(copied);
  handle_ = std::move(destination);
}

void Database::move_copy_to_memory() {
  std::string name = (std::filesystem::temp_directory_path() / "tunesmith-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr)
    throw EnvironmentError(fmt::format("cannot create a folder in {}, to read {}",
                                       std::filesystem::temp_directory_path().string(), path_.string()));
  const std::filesystem::path folder = name;
  const auto remove = [](const std::filesystem::path* of) {
    std::error_code ignored;
    std::filesystem::remove_all(*of, ignored);
  };
  const std::unique_ptr<const std::filesystem::path, decltype(remove)> removed(&folder, remove);
  for (const char* part : {"", "-wal"}) {
    std::error_code error;
    const std::filesystem::path from = path_.string() + part;
    const std::filesystem::path copy = folder / (std::string("copy") + part);
    if (*part != '\0' && !std::filesystem::exists(from, error)) continue;
    std::filesystem::copy_file(from, copy, error);
    if (!error)
      std::filesystem::permissions(copy, std::filesystem::perms::owner_write,
                                   std::filesystem::perm_options::add, error);
    if (error) throw EnvironmentError(fmt::format("{}: {}", from.string(), error.message()));
  }
  statements_.clear();
  Database copy(folder / "copy", false, busy_ms_);
  copy.move_to_memory();
  handle_ = std::move(copy.handle_);
}

void Database::fail(int code) const {
  const std::string file = path_.string();
  const char* detail = handle_ ? sqlite3_errmsg(handle_.get()) : sqlite3_errstr(code);
  switch (code & 0xff) {
    case SQLITE_NOTADB:
      throw UserError({file}, "not a record store, or its header is damaged", "give another file");
    case SQLITE_CORRUPT:
    case SQLITE_ERROR:  // a table or column is not where it was made
      throw DamagedFile(
          fmt::format("{}: the record store is damaged ({}); save what can be read with "
                      "'tunesmith records export' and import it into a new one",
                      file, detail));
    case SQLITE_FULL:
      throw EnvironmentError(fmt::format("{}: no space left on the disk", file));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw EnvironmentError(fmt::format(
          "{}: the record store was locked by another process for more than {} s", file, busy_ms_ / 1000));
    case SQLITE_READONLY:
    case SQLITE_PERM:
      throw UnwritableFile(fmt::format("{}: the record store or its folder cannot be written", file));
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR:
    case SQLITE_AUTH:
    case SQLITE_NOMEM: {
      const int error = handle_ ? sqlite3_system_errno(handle_.get()) : 0;
      const std::string what =
          fmt::format("{}: {}{}", file, detail, error != 0 ? fmt::format(": {}", std::strerror(error)) : "");
      if ((code & 0xff) == SQLITE_CANTOPEN) throw UnwritableFile(what);
      throw EnvironmentError(what);
    }
    default:
      throw InternalError(fmt::format("{}: {} (SQLite code {})", file, detail, code));
  }
}

Transaction::Transaction(Database& database, Kind kind) : database_(database) {
  database_.execute(kind == Kind::Write ? "BEGIN IMMEDIATE" : "BEGIN DEFERRED");
}

Transaction::~Transaction() {
  if (!open_) return;
  try {
    database_.execute("ROLLBACK");
  } catch (const Error&) {
    // A full disk or an I/O error has rolled it back already; the first error is on its way to the caller.
    return;
  }
}

void Transaction::commit() {
  database_.execute("COMMIT");
  open_ = false;
}

}  // namespace tunesmith::sqlite
