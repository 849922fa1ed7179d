// Records and environments as lines of JSONL. A line stands alone: lines may be sorted, filtered and
// concatenated.
//   {"checksum": "..", "record": {..}, "version": 1}
//   {"checksum": "..", "environment": {..}, "version": 1}
// The checksum is of the canonical JSON (keys sorted, no spaces) of the object beside it.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tunesmith/measure/environment.h"
#include "tunesmith/records/record.h"

namespace tunesmith {

/// Canonical JSON. Text that is not UTF-8 is replaced: a compiler's message may hold any byte.
std::string record_json(const Record& record);

/// The first 64 bits of the SHA-256 of canonical JSON, in hexadecimal.
std::string json_checksum(std::string_view canonical);

std::string record_line(const Record& record);
std::string environment_line(const Environment& environment);

/// Throws UserError saying what is wrong with the line.
std::variant<Environment, Record> parse_line(std::string_view line);

std::string samples_json(const std::vector<double>& samples);
/// Throws UserError when `text` is not a list of numbers.
std::vector<double> parse_samples(std::string_view text);

}  // namespace tunesmith
