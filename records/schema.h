// The tables of a record store and their version.
#pragma once

#include <optional>

#include "sqlite.h"
#include "tunesmith/records/record_store.h"

namespace tunesmith {

/// Creates the tables in an empty file; otherwise checks that the
/// file is a record store with a supported version, and converts
/// an older one. Throws UserError if it is not, before any change.
std::optional<MigrationReport> prepare_schema(sqlite::Database& database);

/// The same for readers: the file does not change, and `database` becomes
/// read-only. A store of an older schema, or without tables, becomes a converted
/// copy in memory; a store in a read-only folder becomes a copy in memory, too.
std::optional<MigrationReport> read_schema(sqlite::Database& database);
/// The same for a file that may be truncated.
std::optional<MigrationReport> rescue_schema(sqlite::Database& database);

int64_t schema_version(sqlite::Database& database);

/// Gives a store of an older schema the tables of today's, in the caller's transaction.
void change_tables(sqlite::Database& database, int64_t version);

}  // namespace tunesmith
