// Records as schemas 1 and 2 and version 1 of the JSON lines had them. They do not say with how many threads,
// in which run and as which lowered program they were measured, so what is read is unattributed.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "tunesmith/records/record.h"

namespace tunesmith {

/// Throws nlohmann's exceptions and UserError.
Record parse_record_v1(const nlohmann::json& in);

/// The canonical JSON that the checksum of such a record is of; `program_hash` is what it had and has no
/// meaning any more.
std::string canonical_json_v1(const Record& record, uint64_t program_hash);

}  // namespace tunesmith
