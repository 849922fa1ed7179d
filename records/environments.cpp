#include "tables.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/hash.h"

namespace tunesmith {

Insertion insert_environment(sqlite::Database& database, const Environment& environment) {
  database.prepare("INSERT INTO environment (hash, machine, text) VALUES (?, ?, ?) ON CONFLICT DO NOTHING")
      .bind(hex64(environment.hash()))
      .bind(hex64(environment.machine()))
      .bind(environment.text())
      .run();
  return database.changes() > 0 ? Insertion::Added : Insertion::Known;
}

void scan_environments(sqlite::Database& database, const Visit<Environment>& visit) {
  auto rows = database.prepare("SELECT hash, machine, text FROM environment ORDER BY hash");
  while (rows.step()) {
    Stored<Environment> stored{"environment " + rows.text(0), {}};
    try {
      Environment environment = Environment::parse(rows.text(2));
      if (hex64(environment.hash()) == rows.text(0) && hex64(environment.machine()) == rows.text(1)) {
        stored.content = std::move(environment);
      } else {
        stored.content = "its hash does not match its content";
      }
    } catch (const UserError& error) {
      stored.content = error.what();
    }
    visit(stored);
  }
}

}  // namespace tunesmith
