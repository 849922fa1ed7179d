// The result of a measurement as fields of messages and lines.
#pragma once

#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "tunesmith/measure/failure.h"
#include "tunesmith/schema/field.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Adds `cause` and `message` to an object.
void add_failure(nlohmann::json& fields, const CandidateFailure& failure);
CandidateFailure read_failure(const Field& fields, size_t max_message);

/// A list of times in seconds.
std::vector<double> read_samples(const Field& list, size_t min, size_t max);

}  // namespace tunesmith
#pragma GCC visibility pop
