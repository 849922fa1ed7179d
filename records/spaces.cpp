#include <fmt/format.h>

#include "tables.h"
#include "tunesmith/records/record_json.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/hash.h"

namespace tunesmith {

Insertion insert_space(sqlite::Database& database, const RecordedSpace& space) {
  database
      .prepare(
          "INSERT INTO space (name, rules_hash, rules, checksum) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE "
          "SET rules = excluded.rules, checksum = excluded.checksum "
          "WHERE rules IS NULL AND excluded.rules IS NOT NULL")
      .bind(space.name)
      .bind(hex64(space.rules_hash))
      .bind_optional(space.rules.empty() ? std::nullopt : std::optional(space.rules))
      .bind(checksum_of(space))
      .run();
  return database.changes() > 0 ? Insertion::Added : Insertion::Known;
}

void scan_spaces(sqlite::Database& database, const Visit<RecordedSpace>& visit) {
  auto rows = database.prepare("SELECT name, rules_hash, rules, checksum FROM space ORDER BY id");
  while (rows.step()) {
    Stored<RecordedSpace> stored{fmt::format("space '{}'", rows.text(0)), {}};
    try {
      RecordedSpace space{rows.text(0), parse_hash(rows.text(1)), rows.text(2)};
      if (checksum_of(space) != rows.text(3)) throw UserError("its checksum does not match its content");
      stored.content = std::move(space);
    } catch (const UserError& error) {
      stored.content = error.what();
    }
    visit(stored);
  }
}

}  // namespace tunesmith
