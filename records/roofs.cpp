#include <fmt/format.h>

#include "tables.h"
#include "tunesmith/records/record_json.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/hash.h"

namespace tunesmith {

namespace {
RecordedRoof read_roof(const sqlite::Statement& row) {
  RecordedRoof roof;
  roof.id = row.text(0);
  roof.environment = parse_hash(row.text(1));
  roof.target = row.text(2);
  roof.threads = static_cast<int>(row.integer(3));
  roof.device = row.text(4);
  roof.quantity = row.text(5);
  roof.per_second = row.real(6);
  roof.time_ms = row.integer(7);
  if (!row.is_null(8)) roof.disturbed = row.integer(8) != 0;
  return roof;
}
}  // namespace

Insertion insert_roof(sqlite::Database& database, const RecordedRoof& roof) {
  const std::string checksum = checksum_of(roof);
  {
    auto known = database.prepare("SELECT checksum FROM roof WHERE id = ?");
    if (known.bind(roof.id).step()) return known.text(0) == checksum ? Insertion::Known : Insertion::Conflict;
  }
  database
      .prepare(
          "INSERT INTO roof (id, environment, target, threads, device, quantity, per_second, time_ms, "
          "disturbed, checksum) SELECT ?, hash, ?, ?, ?, ?, ?, ?, ?, ? FROM environment WHERE hash = ?")
      .bind(roof.id)
      .bind(roof.target)
      .bind(int64_t{roof.threads})
      .bind(roof.device)
      .bind(roof.quantity)
      .bind(roof.per_second)
      .bind(roof.time_ms)
      .bind_optional(roof.disturbed ? std::optional(int64_t{*roof.disturbed}) : std::nullopt)
      .bind(checksum)
      .bind(hex64(roof.environment))
      .run();
  return database.changes() > 0 ? Insertion::Added : Insertion::UnknownReference;
}

void scan_roofs(sqlite::Database& database, const Visit<RecordedRoof>& visit) {
  auto rows = database.prepare(
      "SELECT id, environment, target, threads, device, quantity, per_second, time_ms, disturbed, checksum "
      "FROM roof "
      "ORDER BY time_ms, id");
  while (rows.step()) {
    Stored<RecordedRoof> stored{fmt::format("roof '{}'", rows.text(0)), {}};
    try {
      RecordedRoof roof = read_roof(rows);
      if (const std::string fault = roof_fault(roof); !fault.empty()) throw UserError(fault);
      if (checksum_of(roof) != rows.text(9)) throw UserError("its checksum does not match its content");
      stored.content = std::move(roof);
    } catch (const UserError& error) {
      stored.content = std::string(error.what());
    }
    visit(stored);
  }
}

}  // namespace tunesmith
