// A candidate to be measured by another process,
// as a line of a file or queue (docs/records.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tunesmith/measure/runner.h"
#include "tunesmith/records/recorded_candidate.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// How a job is measured: fields of MeasureOptions, with its defaults.
struct JobOptions {
  double time_out_seconds = MeasureOptions().time_out_seconds;
  int64_t memory_limit_bytes = MeasureOptions().memory_limit_bytes;
  int min_repeats = MeasureOptions().min_repeats;
  int max_repeats = MeasureOptions().max_repeats;
  double min_total_seconds = MeasureOptions().min_total_seconds;

  bool operator==(const JobOptions&) const = default;
};

/// A value.
struct Job {
  RecordedCandidate candidate;  // measured with the number of threads that it names
  JobOptions options;
  double limit_seconds = 0.0;  // MeasureRequest::limit_seconds

  bool operator==(const Job&) const = default;
};

/// One line without the line end.
std::string line_of(const Job& job);
/// Also accepts a line with a candidate, with default JobOptions. Throws UserError for any other
/// line, and for lines that are damaged, of a newer version, or beyond the schema's limits.
Job parse_job(std::string_view line);

}  // namespace tunesmith
#pragma GCC visibility pop
