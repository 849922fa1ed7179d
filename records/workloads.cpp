#include <fmt/format.h>

#include "tables.h"
#include "tunesmith/records/record_json.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/hash.h"

namespace tunesmith {

Insertion insert_workload(sqlite::Database& database, const RecordedWorkload& workload) {
  const std::string hash = hex64(workload.hash);
  database
      .prepare(
          "INSERT INTO workload (hash, text, definition, checksum) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE "
          "SET definition = excluded.definition, checksum = excluded.checksum "
          "WHERE definition IS NULL AND excluded.definition IS NOT NULL")
      .bind(hash)
      .bind(workload.text)
      .bind_optional(workload.definition.empty() ? std::nullopt : std::optional(workload.definition))
      .bind(checksum_of(workload))
      .run();
  return database.changes() > 0 ? Insertion::Added : Insertion::Known;
}

void scan_workloads(sqlite::Database& database, const Visit<RecordedWorkload>& visit) {
  auto rows = database.prepare("SELECT hash, text, definition, checksum FROM workload ORDER BY id");
  while (rows.step()) {
    Stored<RecordedWorkload> stored{fmt::format("workload '{}'", rows.text(1)), {}};
    try {
      RecordedWorkload workload{parse_hash(rows.text(0)), rows.text(1), rows.text(2)};
      if (checksum_of(workload) != rows.text(3)) throw UserError("its checksum does not match its content");
      stored.content = std::move(workload);
    } catch (const UserError& error) {
      stored.content = error.what();
    }
    visit(stored);
  }
}

}  // namespace tunesmith
