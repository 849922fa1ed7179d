// The tables of a record store and their version.
#pragma once

#include <optional>

#include "sqlite.h"
#include "tunesmith/records/record_store.h"

namespace tunesmith {

/// Makes the tables where there are none; otherwise checks that the file is a record store of a version that
/// this Tunesmith reads, and brings an older one up to date. Throws UserError when it is not, before anything
/// is changed.
std::optional<MigrationReport> prepare_schema(sqlite::Database& database);

/// The same for who only reads: the file is not changed, and `database` forbids changes from now on. A store
/// of an older schema, or one whose tables were not made yet, becomes a copy in memory that is up to date;
/// one in a folder that cannot be written, a copy in memory as well.
std::optional<MigrationReport> read_schema(sqlite::Database& database);
/// The same of a file that may be cut short.
std::optional<MigrationReport> rescue_schema(sqlite::Database& database);

int64_t schema_version(sqlite::Database& database);

/// The tables that stores of schemas 1 and 2 had otherwise or not at all, in the caller's transaction.
void create_tables(sqlite::Database& database);
/// What came with schema 4, to a store of schema 3, in the caller's transaction.
void add_rounds_and_roofs(sqlite::Database& database);
/// What came with schema 5, to a store of schema 4, in the caller's transaction. The view is
/// add_verifiers()'s.
void add_twins(sqlite::Database& database);
/// What came with schema 6, to a store of schema 5, in the caller's transaction.
void add_verifiers(sqlite::Database& database);
/// What came with schema 7, to a store of schemas 4 to 6, in the caller's transaction.
void add_disturbed_roofs(sqlite::Database& database);

}  // namespace tunesmith
