// Is the best program on record one that was compared with the others, or only measured by itself?
#pragma once

#include <span>

#include "tunesmith/records/record.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Did no ranking compare the first of `best` with the others, with what was measured since and may be
/// faster, or with what was clearly faster by its own measurement: a later ranking left that out? `best`: of
/// one task, from RecordStore::best().
bool never_compared(std::span<const Record> best);

}  // namespace tunesmith
#pragma GCC visibility pop
