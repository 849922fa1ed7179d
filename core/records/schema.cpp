#include "records/schema.h"

#include <fmt/format.h>

#include "tunesmith/support/error.h"

namespace tunesmith {

namespace {
constexpr int kSchemaVersion = 2;           // 2: seconds_prepare
constexpr int kApplicationId = 0x54534d52;  // "TSMR", in the file's header: file(1) and we know it by this

// Hashes are 16 hexadecimal digits: SQLite's integers have a sign and a person at its prompt compares text.
constexpr const char* kTables = R"sql(
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE workload (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL,
  text TEXT NOT NULL,
  UNIQUE (hash, text)
) STRICT;
CREATE TABLE target (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE environment (
  hash TEXT PRIMARY KEY,
  machine TEXT NOT NULL,
  text TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE record (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  workload INTEGER NOT NULL REFERENCES workload (id),
  target INTEGER NOT NULL REFERENCES target (id),
  environment TEXT NOT NULL REFERENCES environment (hash),
  space TEXT NOT NULL,
  rules_hash TEXT NOT NULL,
  trace TEXT NOT NULL,
  trace_version INTEGER NOT NULL,
  program_hash TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('ok', 'failed')),
  cause TEXT,
  message TEXT,
  seconds_min REAL,
  seconds_median REAL,
  samples TEXT,
  sample_count INTEGER NOT NULL,
  seconds_prepare REAL,
  verified_error REAL,
  seed INTEGER NOT NULL,
  candidate INTEGER NOT NULL,
  time_ms INTEGER NOT NULL,
  checksum TEXT NOT NULL,
  CHECK ((status = 'failed') = (cause IS NOT NULL)),
  CHECK ((status = 'ok') = (seconds_min IS NOT NULL AND seconds_median IS NOT NULL AND samples IS NOT NULL)),
  CHECK (status = 'failed' OR verified_error IS NOT NULL)
) STRICT;
CREATE INDEX record_by_task ON record (workload, target, seq);
)sql";

bool is_empty(sqlite::Database& database) {
  return database.integer("SELECT count(*) FROM sqlite_schema") == 0;
}

int64_t schema_version(sqlite::Database& database) {
  return database.integer("SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'schema_version'");
}

void check_schema(sqlite::Database& database) {
  if (database.integer("PRAGMA application_id") != kApplicationId) {
    throw UserError({database.path().string()}, "a database, but not a record store", "name another file");
  }
  const int64_t version = schema_version(database);
  if (version > kSchemaVersion) {
    throw UserError(
        {database.path().string()},
        fmt::format("the record store was written by a newer Tunesmith (schema {}, this one reads up to {})",
                    version, kSchemaVersion),
        "update Tunesmith, or name another file");
  }
}
/// Older stores get what came since; nothing that they hold changes.
void update_schema(sqlite::Database& database) {
  if (schema_version(database) == kSchemaVersion) return;
  sqlite::Transaction transaction(database);
  if (schema_version(database) == 1) {
    database.execute("ALTER TABLE record ADD COLUMN seconds_prepare REAL");
    database.execute("UPDATE meta SET value = '2' WHERE key = 'schema_version'");
  }
  transaction.commit();
}

}  // namespace

void prepare_schema(sqlite::Database& database) {
  database.execute("PRAGMA foreign_keys = ON");
  database.execute("PRAGMA trusted_schema = OFF");
  // In a write-ahead log NORMAL would survive SIGKILL too; FULL syncs at every commit, so that a reported
  // record also survives a power cut. It costs a few milliseconds beside the tens of measuring; a batch costs
  // one sync.
  database.execute("PRAGMA synchronous = FULL");
  if (is_empty(database)) {
    database.use_write_ahead_log();
    sqlite::Transaction transaction(database);
    if (is_empty(database)) {
      database.execute(kTables);
      database.execute(fmt::format("PRAGMA application_id = {}", kApplicationId).c_str());
      database.prepare("INSERT INTO meta VALUES ('schema_version', ?)")
          .bind(fmt::format("{}", kSchemaVersion))
          .run();
    }
    transaction.commit();
  }
  check_schema(database);
  update_schema(database);
}

}  // namespace tunesmith
