// Schema 6 did not say whether a roof was disturbed, schema 7 had hashes of sources in its targets
// (current_target.h), schema 8 no times with values of extents that vary. Earlier ones are of no release.
#include "migrate.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "current_target.h"
#include "schema.h"
#include "tables.h"
#include "tunesmith/records/record_json.h"
#include "tunesmith/support/error.h"

namespace tunesmith {

namespace {
namespace fs = std::filesystem;

[[noreturn]] void cannot_copy(const fs::path& copy, const std::string& why) {
  throw EnvironmentError(
      fmt::format("{}: the record store of an older schema cannot be backed up, so it was not converted: {}",
                  copy.string(), why));
}

void sync_to_disk(const fs::path& file) {
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  const bool synced = descriptor >= 0 && fsync(descriptor) == 0;
  if (descriptor >= 0) close(descriptor);
  if (!synced) cannot_copy(file, std::generic_category().message(errno));
}

/// Copies the store to an unused name. The caller's transaction excludes
/// writers; an unfinished copy of a killed process is replaced.
fs::path copy_aside(sqlite::Database& database, int64_t version) {
  const std::string base = fmt::format("{}.schema{}.bak", database.path().string(), version);
  const fs::path unfinished = base + ".unfinished";
  std::error_code error;
  for (const char* suffix : {"", "-journal", "-wal", "-shm"}) fs::remove(unfinished.string() + suffix, error);
  database.copy_to(unfinished);
  sync_to_disk(unfinished);
  for (int number = 1; number < 1000; ++number) {
    const fs::path copy = number == 1 ? base : fmt::format("{}{}", base, number);
    // Linking fails if the file exists, whereas a rename would replace it.
    fs::create_hard_link(unfinished, copy, error);
    if (error == std::errc::file_exists) continue;
    if (error) break;
    fs::remove(unfinished, error);
    sync_to_disk(fs::absolute(copy).parent_path());
    return copy;
  }
  cannot_copy(base, error.message());
}

/// Stores that began before schema 3 have records without threads, run and program, which are useless.
size_t remove_incomplete_records(sqlite::Database& database) {
  const int64_t count = database.integer(
      "SELECT count(*) FROM measurement JOIN program p ON p.id = program WHERE p.lowered_hash IS NULL");
  database.execute(
      "DELETE FROM measurement WHERE program IN (SELECT id FROM program WHERE lowered_hash IS NULL);"
      "DELETE FROM program WHERE lowered_hash IS NULL;"
      "DELETE FROM run WHERE began_ms IS NULL;"
      "DELETE FROM task WHERE threads = 0;");
  return static_cast<size_t>(count);
}

int64_t id_of_target(sqlite::Database& database, const std::string& text) {
  database.prepare("INSERT INTO target (text) VALUES (?) ON CONFLICT DO NOTHING").bind(text).run();
  auto row = database.prepare("SELECT id FROM target WHERE text = ?");
  check_invariant(row.bind(text).step(), "a target that was just added is there");
  return row.integer(0);
}

/// Changes the target of rows; the new target may already exist, by imported
/// lines of a newer version. Merges tasks that become equal, and their programs.
void move_to_target(sqlite::Database& database, int64_t from, int64_t to) {
  const std::string statements = fmt::format(
      "CREATE TEMP TABLE task_move AS SELECT f.id AS old, t.id AS new FROM task f JOIN task t ON "
      "t.workload_hash = f.workload_hash AND t.threads = f.threads AND t.device = f.device "
      "WHERE f.target = {0} AND t.target = {1};"
      "CREATE TEMP TABLE program_move AS SELECT f.id AS old, t.id AS new FROM program f "
      "JOIN task_move m ON m.old = f.task JOIN program t ON t.task = m.new AND t.lowered_hash = "
      "f.lowered_hash;"
      "UPDATE measurement SET program = (SELECT new FROM program_move WHERE old = program) "
      "WHERE program IN (SELECT old FROM program_move);"
      "DELETE FROM program WHERE id IN (SELECT old FROM program_move);"
      "UPDATE program SET task = (SELECT new FROM task_move WHERE old = task) "
      "WHERE task IN (SELECT old FROM task_move);"
      "DELETE FROM task WHERE id IN (SELECT old FROM task_move);"
      "UPDATE task SET target = {1} WHERE target = {0};"
      "DELETE FROM target WHERE id = {0};"
      "DROP TABLE program_move; DROP TABLE task_move;",
      from, to);
  database.execute(statements.c_str());
}

/// Checksums cover texts: valid ones are recomputed.
void rename_target(sqlite::Database& database, const std::string& before, const std::string& now) {
  std::vector<std::string> sound;
  scan_records(database, {.target = before}, [&](const Stored<Record>& stored) {
    if (const Record* record = stored.value()) sound.push_back(record->id);
  });
  move_to_target(database, id_of_target(database, before), id_of_target(database, now));
  for (const std::string& id : sound) {
    auto row = database.prepare(fmt::format("SELECT {} FROM record WHERE id = ?", kRecordColumns));
    check_invariant(row.bind(id).step(), "a record whose target is renamed is there");
    database.prepare("UPDATE measurement SET checksum = ? WHERE id = ?")
        .bind(checksum_of(sound_record(row, database)))
        .bind(id)
        .run();
  }
}

void name_versions(sqlite::Database& database) {
  std::vector<std::string> targets;
  {
    auto rows = database.prepare("SELECT text FROM target ORDER BY id");
    while (rows.step()) targets.push_back(rows.text(0));
  }
  for (const std::string& before : targets) {
    if (const std::string now = current_target(before); now != before) rename_target(database, before, now);
  }
  std::vector<RecordedRoof> roofs;
  scan_roofs(database, [&](const Stored<RecordedRoof>& stored) {
    const RecordedRoof* roof = stored.value();
    if (roof != nullptr && current_target(roof->target) != roof->target) roofs.push_back(*roof);
  });
  for (RecordedRoof& roof : roofs) {
    roof.target = current_target(roof.target);
    database.prepare("UPDATE roof SET target = ?, checksum = ? WHERE id = ?")
        .bind(roof.target)
        .bind(checksum_of(roof))
        .bind(roof.id)
        .run();
  }
}
}  // namespace

std::optional<MigrationReport> migrate(sqlite::Database& database, OldStore old) {
  if (schema_version(database) == kRecordSchema) return std::nullopt;
  sqlite::Transaction transaction(database);
  const int64_t version = schema_version(database);
  if (version == kRecordSchema) return std::nullopt;
  MigrationReport report;
  report.from_schema = static_cast<int>(version);
  if (old == OldStore::CopiedAside) report.copy = copy_aside(database, version);
  report.left_out = remove_incomplete_records(database);
  change_tables(database, version);
  name_versions(database);
  report.records = static_cast<size_t>(database.integer("SELECT count(*) FROM measurement"));
  database.prepare("UPDATE meta SET value = ? WHERE key = 'schema_version'")
      .bind(fmt::format("{}", kRecordSchema))
      .run();
  transaction.commit();
  return report;
}

}  // namespace tunesmith
