#pragma once

#include <optional>

#include "sqlite.h"
#include "tunesmith/records/record_store.h"

namespace tunesmith {

/// What to do with the old store.
enum class OldStore : uint8_t {
  CopiedAside,  // under a name that no file has
  Elsewhere     // the migrated database is already a copy
};

/// Converts a store of an older schema to the current one in one transaction.
/// Nothing if the store is up to date, also if another process has just converted
/// it. If killed, the store stays unchanged, possibly with a copy beside it.
std::optional<MigrationReport> migrate(sqlite::Database& database, OldStore old);

}  // namespace tunesmith
