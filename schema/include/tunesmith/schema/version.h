// The version of everything that leaves a process: what worker and tuner say to each other, and lines of
// records, candidates and jobs (docs/records.md).
#pragma once

#pragma GCC visibility push(default)
namespace tunesmith {

/// Raised when a field of anything in the schema changes its meaning, comes or goes. Worker and tuner must
/// have the same. A line says the version in which its kind last changed (schema/line.cpp), so that a
/// Tunesmith that lacks newer kinds reads those that it knows.
inline constexpr int kSchemaVersion = 8;

}  // namespace tunesmith
#pragma GCC visibility pop
