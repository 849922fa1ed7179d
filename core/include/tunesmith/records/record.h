// A record: one candidate, what became of it, and everything needed to make the same program again.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "tunesmith/measure/failure.h"
#include "tunesmith/measure/timing.h"

namespace tunesmith {

/// A value. Either it succeeded (`timing` and `verified_error`, no `failure`) or it failed (`failure`, no
/// `timing`): a failure is never a number.
struct Record {
  std::string id;  // of the job: unique over all machines; the same id is the same job

  std::string workload;        // canonical text, "gmm:k=512,m=512,n=512"
  uint64_t workload_hash = 0;  // of the unscheduled program: two files may give one name to different things
  std::string target;          // canonical text
  uint64_t environment = 0;    // Environment::hash() of an environment that the store has
  std::string space;           // its name in spaces.yaml
  uint64_t rules_hash = 0;     // of the modules and options that the space was made by

  std::string trace;  // text form, decisions as repaired
  int trace_version = 0;
  uint64_t program_hash = 0;  // of the finished program: equal for traces that give the same program

  std::optional<Timing> timing;
  std::optional<double> verified_error;  // largest error over its tolerance, at most 1 when accepted
  std::optional<CandidateFailure> failure;

  uint64_t seed = 0;       // of the run
  uint64_t candidate = 0;  // index within the run
  int64_t time_ms = 0;     // when it was measured: milliseconds since 1970, UTC

  bool ok() const { return !failure.has_value(); }
  bool operator==(const Record&) const = default;
};

/// What makes `record` unfit for a store, or "" when it is fit: an empty id, a success without a time or
/// without a verified error, a failure with a time, a time that is not finite and positive.
std::string record_fault(const Record& record);

/// Now, as Record::time_ms has it.
int64_t now_ms();

}  // namespace tunesmith
