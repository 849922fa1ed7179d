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

/// The tables that stores of schemas 1 and 2 had otherwise or not at all, in the caller's transaction.
void create_tables(sqlite::Database& database);
/// The changes of schema 4, for a store of schema 3, in the caller's transaction.
void add_rounds_and_roofs(sqlite::Database& database);
/// The changes of schema 5, for a store of schema 4, in the
/// caller's transaction. add_verifiers() changes the view.
void add_twins(sqlite::Database& database);
/// The changes of schema 6, for a store of schema 5, in the caller's transaction.
void add_verifiers(sqlite::Database& database);
/// The changes of schema 7, for a store of schemas 4 to 6, in the caller's transaction.
void add_disturbed_roofs(sqlite::Database& database);

}  // namespace tunesmith
