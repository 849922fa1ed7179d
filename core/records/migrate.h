#pragma once

#include <optional>

#include "records/sqlite.h"
#include "tunesmith/records/record_store.h"

namespace tunesmith {

/// Brings a store of an older schema to that of this Tunesmith, in one transaction, after copying it aside
/// under a name that no file has. Nothing for a store that is up to date, also when another process has just
/// done it. What was killed half-way leaves the store as it was, and at most a copy.
std::optional<MigrationReport> migrate(sqlite::Database& database);

}  // namespace tunesmith
