// Records of schemas 1 and 2 and of version 1 of the JSON lines. They do not
// contain threads, run and lowered hash, so the records are unattributed.
#pragma once

#include <string>

#include "tunesmith/records/record.h"
#include "tunesmith/schema/field.h"

namespace tunesmith {

Record record_of_v1(const Field& in);

/// For all versions: the result of the measurement. Fields that a version lacks may be missing.
void read_outcome(const Field& in, Record& record);

/// The canonical JSON covered by the checksum of such a
/// record; `program_hash` is its old field without meaning.
std::string canonical_json_v1(const Record& record, uint64_t program_hash);

}  // namespace tunesmith
