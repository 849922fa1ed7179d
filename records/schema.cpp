#include "schema.h"

#include <fmt/format.h>

#include "migrate.h"
#include "tunesmith/support/error.h"

namespace tunesmith {

namespace {
constexpr int64_t kOldestSchema = 6;        // of release 0.2.0
constexpr int kApplicationId = 0x54534d52;  // "TSMR", in the file's header: file(1) and we know it by this

// Hashes are 16 hexadecimal digits: SQLite's integers are signed, and users at its prompt compare texts.
constexpr const char* kTables = R"sql(
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE target (id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE) STRICT;
CREATE TABLE environment (
  hash TEXT PRIMARY KEY,
  machine TEXT NOT NULL,
  text TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE workload (
  id INTEGER PRIMARY KEY,
  hash TEXT NOT NULL,
  text TEXT NOT NULL,
  definition TEXT,                 -- NULL: unknown
  checksum TEXT NOT NULL,
  UNIQUE (hash, text)
) STRICT;
CREATE TABLE space (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  rules_hash TEXT NOT NULL,
  rules TEXT,                      -- NULL: unknown
  checksum TEXT NOT NULL,
  UNIQUE (name, rules_hash)
) STRICT;
CREATE TABLE run (
  id TEXT PRIMARY KEY,
  space INTEGER NOT NULL REFERENCES space (id),
  environment TEXT NOT NULL REFERENCES environment (hash),
  seed INTEGER NOT NULL,
  command TEXT,
  searcher TEXT,
  cost_model TEXT,
  threads INTEGER,
  options TEXT,
  code_generator TEXT,
  began_ms INTEGER,
  ended_ms INTEGER,                -- NULL: has not ended, or was killed
  ended_because TEXT,
  checksum TEXT NOT NULL,
  CHECK ((ended_ms IS NULL) = (ended_because IS NULL))
) STRICT, WITHOUT ROWID;
CREATE TABLE task (
  id INTEGER PRIMARY KEY,
  workload_hash TEXT NOT NULL,
  target INTEGER NOT NULL REFERENCES target (id),
  threads INTEGER NOT NULL,
  device TEXT NOT NULL,            -- '': the host
  UNIQUE (workload_hash, target, threads, device)
) STRICT;
CREATE TABLE program (
  id INTEGER PRIMARY KEY,
  task INTEGER NOT NULL REFERENCES task (id),
  workload INTEGER NOT NULL REFERENCES workload (id),
  space INTEGER NOT NULL REFERENCES space (id),
  trace TEXT NOT NULL,
  trace_version INTEGER NOT NULL,
  lowered_hash TEXT,               -- never NULL since schema 8
  UNIQUE (task, lowered_hash)
) STRICT;
CREATE TABLE measurement (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  program INTEGER NOT NULL REFERENCES program (id),
  run TEXT NOT NULL REFERENCES run (id),
  kind TEXT NOT NULL CHECK (kind IN ('search', 'ranking', 'bench')),
  ranking INTEGER NOT NULL,        -- 0: of none
  candidate INTEGER NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('ok', 'failed')),
  cause TEXT,
  message TEXT,
  seconds REAL,
  seconds_min REAL,
  seconds_median REAL,
  samples TEXT,
  sample_count INTEGER NOT NULL,
  seconds_prepare REAL,
  disturbed INTEGER,               -- NULL: not known
  verified_error REAL,
  time_ms INTEGER NOT NULL,
  checksum TEXT NOT NULL,
  round INTEGER NOT NULL DEFAULT 0 CHECK (round = 0 OR kind = 'search'),  -- 0: of none, or not known
  score REAL CHECK (score IS NULL OR round > 0),                          -- NULL: not known
  verified_on TEXT,                -- the smaller workload of its twin; NULL: its own
  verifier INTEGER,                -- the version of the check; NULL: from before records told of it
  times_at TEXT,                   -- with values of extents that vary; NULL: none varies
  CHECK ((kind = 'ranking') = (ranking > 0)),
  CHECK ((status = 'failed') = (cause IS NOT NULL)),
  CHECK ((status = 'ok') = (seconds IS NOT NULL AND seconds_min IS NOT NULL AND seconds_median IS NOT NULL
                            AND samples IS NOT NULL AND seconds_prepare IS NOT NULL)),
  CHECK (status = 'failed' OR kind = 'ranking' OR verified_error IS NOT NULL)
) STRICT;
CREATE INDEX measurement_by_program ON measurement (program);
CREATE INDEX measurement_by_run ON measurement (run);
CREATE TABLE roof (
  id TEXT PRIMARY KEY,
  environment TEXT NOT NULL REFERENCES environment (hash),
  target TEXT NOT NULL,
  threads INTEGER NOT NULL,
  device TEXT NOT NULL,
  quantity TEXT NOT NULL,
  per_second REAL NOT NULL,
  time_ms INTEGER NOT NULL,
  checksum TEXT NOT NULL,
  disturbed INTEGER                -- NULL: not known
) STRICT, WITHOUT ROWID;
)sql";

constexpr const char* kRecordView = R"sql(
CREATE VIEW record AS
  SELECT m.seq, m.id, p.task, m.program, w.text AS workload, k.workload_hash, t.text AS target, k.threads,
         k.device, m.run, r.environment, e.machine, s.name AS space, s.rules_hash, r.seed, p.trace, p.trace_version, p.lowered_hash, m.kind, m.ranking,
         m.candidate, m.status, m.cause, m.message, m.seconds, m.seconds_min, m.seconds_median, m.samples,
         m.sample_count, m.seconds_prepare, m.disturbed, m.verified_error, m.time_ms, m.round, m.score, m.verified_on,
         m.verifier, m.times_at, m.checksum
    FROM measurement m
    JOIN program p ON p.id = m.program
    JOIN task k ON k.id = p.task
    JOIN target t ON t.id = k.target
    JOIN workload w ON w.id = p.workload
    JOIN run r ON r.id = m.run
    JOIN space s ON s.id = r.space
    JOIN environment e ON e.hash = r.environment;
)sql";

bool is_empty(sqlite::Database& database) {
  return database.integer("SELECT count(*) FROM sqlite_schema") == 0;
}

/// Makes the tables unless another process has just made them.
void make_tables(sqlite::Database& database) {
  sqlite::Transaction transaction(database);
  if (is_empty(database)) {
    database.execute(kTables);
    database.execute(kRecordView);
    database.execute(fmt::format("PRAGMA application_id = {}", kApplicationId).c_str());
    database.prepare("INSERT INTO meta VALUES ('schema_version', ?)")
        .bind(fmt::format("{}", kRecordSchema))
        .run();
  }
  transaction.commit();
}

void check_schema(sqlite::Database& database) {
  if (database.integer("PRAGMA application_id") != kApplicationId) {
    throw UserError({database.path().string()}, "a database, but not a record store", "give another file");
  }
  const int64_t version = schema_version(database);
  if (version > kRecordSchema) {
    throw UserError(
        {database.path().string()},
        fmt::format("the record store was written by a newer Tunesmith (schema {}, this one reads up to {})",
                    version, kRecordSchema),
        "update Tunesmith, or give another file");
  }
  if (version < kOldestSchema) {
    throw UserError({database.path().string()},
                    fmt::format("the record store has schema {}, which no release used", version),
                    "give another file; Tunesmith 0.2.0 converts it, but no search uses its records");
  }
}
}  // namespace

int64_t schema_version(sqlite::Database& database) {
  return database.integer("SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'schema_version'");
}

void change_tables(sqlite::Database& database, int64_t version) {
  if (version < 7) database.execute("ALTER TABLE roof ADD COLUMN disturbed INTEGER");
  if (version < 9) database.execute("ALTER TABLE measurement ADD COLUMN times_at TEXT");
  database.execute("DROP VIEW record");
  database.execute(kRecordView);
}

std::optional<MigrationReport> prepare_schema(sqlite::Database& database) {
  database.execute("PRAGMA foreign_keys = ON");
  database.execute("PRAGMA trusted_schema = OFF");
  // In a write-ahead log NORMAL would survive SIGKILL too; FULL syncs at every commit, so that a reported
  // record also survives a power cut. It costs a few milliseconds beside the tens of measuring; a batch costs
  // one sync.
  database.execute("PRAGMA synchronous = FULL");
  if (is_empty(database)) {
    database.use_write_ahead_log();
    make_tables(database);
  }
  check_schema(database);
  return migrate(database, OldStore::CopiedAside);
}

std::optional<MigrationReport> read_schema(sqlite::Database& database) {
  try {
    is_empty(database);
  } catch (const sqlite::UnwritableFile&) {
    database.move_copy_to_memory();
  }
  database.execute("PRAGMA foreign_keys = ON");
  database.execute("PRAGMA trusted_schema = OFF");
  const bool empty = is_empty(database);
  if (!empty) check_schema(database);
  if (empty || schema_version(database) != kRecordSchema) database.move_to_memory();
  if (empty) make_tables(database);
  std::optional<MigrationReport> report = migrate(database, OldStore::Elsewhere);
  database.execute("PRAGMA query_only = ON");
  return report;
}

std::optional<MigrationReport> rescue_schema(sqlite::Database& database) {
  // SQLite then also opens truncated files.
  database.execute("PRAGMA writable_schema = ON");
  return read_schema(database);
}

}  // namespace tunesmith
