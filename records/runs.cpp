#include <fmt/format.h>

#include "tables.h"
#include "tunesmith/records/record_json.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/hash.h"

namespace tunesmith {

namespace {
constexpr const char* kColumns =
    "r.id, s.name, s.rules_hash, r.environment, r.seed, r.command, r.searcher, r.cost_model, r.threads, "
    "r.options, r.code_generator, r.began_ms, r.ended_ms, r.ended_because, r.checksum";
constexpr const char* kRunTables = "run r JOIN space s ON s.id = r.space";
constexpr int kChecksumOfRun = 14;

RecordedRun read_run(const sqlite::Statement& row) {
  RecordedRun run;
  run.id = row.text(0);
  run.space = row.text(1);
  run.rules_hash = parse_hash(row.text(2));
  run.environment = parse_hash(row.text(3));
  run.seed = static_cast<uint64_t>(row.integer(4));
  run.command = row.text(5);
  run.searcher = row.text(6);
  run.cost_model = row.text(7);
  run.threads = static_cast<int>(row.integer(8));
  run.options = row.text(9);
  run.code_generator = row.text(10);
  run.began_ms = row.integer(11);
  run.ended_ms = row.integer(12);
  run.ended_because = row.text(13);
  return run;
}

RecordedRun without_end(RecordedRun run) {
  run.ended_ms = 0;
  run.ended_because.clear();
  return run;
}

/// Compares `run` with the stored run of the same id, which may be the same run before or after its end.
Insertion meet(sqlite::Database& database, const RecordedRun& here, const RecordedRun& run) {
  if (here == run) return Insertion::Known;
  if (without_end(here) != without_end(run) || (here.ended_ms != 0 && run.ended_ms != 0))
    return Insertion::Conflict;
  if (run.ended_ms == 0) return Insertion::Known;
  database.prepare("UPDATE run SET ended_ms = ?, ended_because = ?, checksum = ? WHERE id = ?")
      .bind(run.ended_ms)
      .bind(run.ended_because)
      .bind(checksum_of(run))
      .bind(run.id)
      .run();
  return Insertion::Added;
}
}  // namespace

std::optional<RecordedRun> find_run(sqlite::Database& database, std::string_view id) {
  auto row = database.prepare(fmt::format("SELECT {} FROM {} WHERE r.id = ?", kColumns, kRunTables));
  if (!row.bind(id).step()) return std::nullopt;
  return read_run(row);
}

Insertion insert_run(sqlite::Database& database, const RecordedRun& run) {
  if (const auto here = find_run(database, run.id)) return meet(database, *here, run);
  const bool ended = run.ended_ms != 0;
  database
      .prepare(
          "INSERT INTO run (id, space, environment, seed, command, searcher, cost_model, threads, options, "
          "code_generator, began_ms, ended_ms, ended_because, checksum) "
          "SELECT ?, s.id, e.hash, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ? FROM space s, environment e "
          "WHERE s.name = ? AND s.rules_hash = ? AND e.hash = ?")
      .bind(run.id)
      .bind(static_cast<int64_t>(run.seed))
      .bind(run.command)
      .bind(run.searcher)
      .bind(run.cost_model)
      .bind(int64_t{run.threads})
      .bind(run.options)
      .bind(run.code_generator)
      .bind(run.began_ms)
      .bind_optional(ended ? std::optional(run.ended_ms) : std::nullopt)
      .bind_optional(ended ? std::optional(run.ended_because) : std::nullopt)
      .bind(checksum_of(run))
      .bind(run.space)
      .bind(hex64(run.rules_hash))
      .bind(hex64(run.environment))
      .run();
  return database.changes() > 0 ? Insertion::Added : Insertion::UnknownReference;
}

void scan_runs(sqlite::Database& database, const Visit<RecordedRun>& visit) {
  auto rows =
      database.prepare(fmt::format("SELECT {} FROM {} ORDER BY r.began_ms, r.id", kColumns, kRunTables));
  while (rows.step()) {
    Stored<RecordedRun> stored{fmt::format("run '{}'", rows.text(0)), {}};
    try {
      RecordedRun run = read_run(rows);
      if (checksum_of(run) != rows.text(kChecksumOfRun))
        throw UserError("its checksum does not match its content");
      stored.content = std::move(run);
    } catch (const UserError& error) {
      stored.content = error.what();
    }
    visit(stored);
  }
}

}  // namespace tunesmith
