// A candidate that leaves its process: the data from which another process
// makes the same program, as a line of the records' format (docs/records.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tunesmith/records/record.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// A value. Fields have the names and meanings of
/// Record; the candidate may have been measured or not.
struct RecordedCandidate {
  RecordedWorkload workload;  // with its definition, so that its file is not needed
  std::string target;         // TargetIdentity::str(), with the available extensions
  int threads = 0;            // intended number; 0 if unspecified
  std::string device;
  std::string trace;  // complete, with the names of `workload`
  int trace_version = 0;
  uint64_t lowered_hash = 0;

  bool operator==(const RecordedCandidate&) const = default;
};

/// One line without the line end.
std::string line_of(const RecordedCandidate& candidate);
/// Throws UserError for a line that is damaged, of a newer version or another
/// kind, or beyond the limits of the format: 4 MiB, of which trace and definition
/// have 1 MiB each and the target 64 KiB, with at most 16 nested levels.
RecordedCandidate parse_candidate(std::string_view line);

}  // namespace tunesmith
#pragma GCC visibility pop
