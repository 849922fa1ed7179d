// A candidate that another process is to measure, as a line that it may be given in a file or by a queue
// (docs/records.md).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tunesmith/measure/runner.h"
#include "tunesmith/records/recorded_candidate.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// How a job is measured: fields of MeasureOptions, whose own values they have where nothing is said.
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
  RecordedCandidate candidate;  // with as many threads as it says
  JobOptions options;
  double limit_seconds = 0.0;  // MeasureRequest::limit_seconds

  bool operator==(const Job&) const = default;
};

/// One line, without its end.
std::string line_of(const Job& job);
/// A line of a candidate is a job, too, with JobOptions as they are. Throws UserError for any other line, and
/// for what is damaged, newer or beyond the limits of the schema.
Job parse_job(std::string_view line);

}  // namespace tunesmith
#pragma GCC visibility pop
