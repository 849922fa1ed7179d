// Workloads and candidates as fields of lines.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "tunesmith/records/recorded_candidate.h"
#include "tunesmith/schema/field.h"

#pragma GCC visibility push(default)
namespace tunesmith {

nlohmann::json workload_fields(const RecordedWorkload& workload);
RecordedWorkload read_workload(const Field& fields);

nlohmann::json candidate_fields(const RecordedCandidate& candidate);
RecordedCandidate read_candidate(const Field& fields);

}  // namespace tunesmith
#pragma GCC visibility pop
