// Records as schemas 1 and 2 and version 1 of the JSON lines had them. They do not say with how many threads,
// in which run and as which lowered program they were measured, so what is read is unattributed.
#pragma once

#include <string>

#include "tunesmith/records/record.h"
#include "tunesmith/schema/field.h"

namespace tunesmith {

Record record_of_v1(const Field& in);

/// Of all versions: how the measurement ended. What a version did not have may be missing.
void read_outcome(const Field& in, Record& record);

/// The canonical JSON that the checksum of such a record is of; `program_hash` is what it had and has no
/// meaning any more.
std::string canonical_json_v1(const Record& record, uint64_t program_hash);

}  // namespace tunesmith
