// What measuring a program answers.
#pragma once

#include <cstdint>
#include <vector>

#pragma GCC visibility push(default)
namespace tunesmith {

/// Finite and positive.
bool is_time(double seconds);

/// Of a program with parameters, with these values of theirs.
struct TimeAt {
  std::vector<int64_t> values;
  double seconds = 0.0;

  bool operator==(const TimeAt&) const = default;
};

/// Times of one program, in seconds for one call. `samples` in the order they were taken, at least one.
struct Timing {
  double min = 0.0;
  double median = 0.0;
  std::vector<double> samples;
  /// Of one run of the step that prepares constant inputs, which no sample contains; 0 when there is none.
  double prepare = 0.0;
  /// Of a program with parameters: what `samples` are means of, and times with other values; else empty.
  std::vector<TimeAt> at = {};  // NOLINT(readability-redundant-member-init): may be left out

  bool operator==(const Timing&) const = default;
};

/// `samples` must not be empty; all must be finite and positive.
Timing make_timing(std::vector<double> samples);

}  // namespace tunesmith
#pragma GCC visibility pop
