// A candidate that leaves its process: what another one needs to make the same program, as a line of the
// records' format (docs/records.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tunesmith/records/record.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// A value. Fields have the names and the meaning that they have in a Record; it may have been measured or
/// not.
struct RecordedCandidate {
  RecordedWorkload workload;  // with its definition, so that no file of it is needed
  std::string target;         // TargetIdentity::str(), with the extensions that were there
  int threads = 0;            // that it is meant for; 0: not said
  std::string device;
  std::string trace;  // complete, in the names of `workload`
  int trace_version = 0;
  uint64_t lowered_hash = 0;

  bool operator==(const RecordedCandidate&) const = default;
};

/// One line, without its end.
std::string line_of(const RecordedCandidate& candidate);
/// Throws UserError for a line that is damaged, newer, of something else, or beyond the limits of the format:
/// 4 MiB, of which the trace and the definition have 1 MiB each and the target 64 KiB, nested at most 16
/// deep.
RecordedCandidate parse_candidate(std::string_view line);

}  // namespace tunesmith
#pragma GCC visibility pop
