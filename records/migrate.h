#pragma once

#include <optional>

#include "sqlite.h"
#include "tunesmith/records/record_store.h"

namespace tunesmith {

/// What becomes of the store as it was.
enum class OldStore : uint8_t {
  CopiedAside,  // under a name that no file has
  Elsewhere     // what is migrated is a copy itself
};

/// Brings a store of an older schema to that of this Tunesmith, in one transaction. Nothing for a store that
/// is up to date, also when another process has just done it. What was killed half-way leaves the store as it
/// was, and at most a copy.
std::optional<MigrationReport> migrate(sqlite::Database& database, OldStore old);

}  // namespace tunesmith
