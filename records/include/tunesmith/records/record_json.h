// The contents of a store as JSON: for checksums, and as lines (schema/line.h) of the kinds environment,
// workload, space, run, roof and record. Older records may have no round, score and verifier. Unknown fields
// are omitted, so that a record's checksum does not depend on the version.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "tunesmith/records/environment.h"
#include "tunesmith/records/record.h"
#include "tunesmith/schema/json_text.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Canonical JSON. Invalid UTF-8 is replaced: a compiler's message may contain any bytes.
std::string canonical_json(const Record& record);
std::string canonical_json(const RecordedWorkload& workload);
std::string canonical_json(const RecordedSpace& space);
std::string canonical_json(const RecordedRun& run);
std::string canonical_json(const RecordedRoof& roof);
std::string canonical_json(const Environment& environment);

template <class Value>
std::string checksum_of(const Value& value) {
  return json_checksum(canonical_json(value));
}

std::string line_of(const Record& record);
std::string line_of(const RecordedWorkload& workload);
std::string line_of(const RecordedSpace& space);
std::string line_of(const RecordedRun& run);
std::string line_of(const RecordedRoof& roof);
std::string line_of(const Environment& environment);

using LineContent =
    std::variant<Environment, RecordedWorkload, RecordedSpace, RecordedRun, RecordedRoof, Record>;
/// Throws UserError with the problem of the line, or if its kind is not stored.
LineContent parse_line(std::string_view line);

/// Throws UserError unless `text` is 16 hexadecimal digits.
uint64_t parse_hash(std::string_view text);

std::string samples_json(const std::vector<double>& samples);
/// Throws UserError unless `text` is a list of numbers.
std::vector<double> parse_samples(std::string_view text);

/// The text of Timing::at.
std::string times_at_text(const std::vector<TimeAt>& times);
/// Parses times_at_text(). Throws UserError for another text.
std::vector<TimeAt> parse_times_at(std::string_view text);

}  // namespace tunesmith
#pragma GCC visibility pop
