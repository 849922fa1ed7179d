// The tables of a record store and their version.
#pragma once

#include "records/sqlite.h"

namespace tunesmith {

/// Makes the tables where there are none; otherwise checks that the file is a record store of a version that
/// this Tunesmith reads. Throws UserError when it is not, before anything is changed.
void prepare_schema(sqlite::Database& database);

}  // namespace tunesmith
