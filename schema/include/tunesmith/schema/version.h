// The version of everything that leaves a process: messages between worker
// and tuner, and lines of records, candidates and jobs (docs/records.md).
#pragma once

#pragma GCC visibility push(default)
namespace tunesmith {

/// Raised when a field of the schema is added, removed or changes its meaning. Worker and
/// tuner must have the same version. A line names the version in which its kind last changed
/// (schema/line.cpp), so that older versions can read the kinds that did not change.
inline constexpr int kSchemaVersion = 9;

}  // namespace tunesmith
#pragma GCC visibility pop
