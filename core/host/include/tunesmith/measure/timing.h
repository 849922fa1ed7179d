// The measured times of a program.
#pragma once

#include <cstdint>
#include <vector>

#pragma GCC visibility push(default)
namespace tunesmith {

/// Is it finite and positive?
bool is_time(double seconds);

/// The time of a program with parameters for these values of the parameters.
struct TimeAt {
  std::vector<int64_t> values;
  double seconds = 0.0;

  bool operator==(const TimeAt&) const = default;
};

/// Times of one program in seconds per call. `samples` is not empty, in the order of measurement.
struct Timing {
  double min = 0.0;
  double median = 0.0;
  std::vector<double> samples;
  /// One run of the PrepareStep, which no sample includes; 0 if there is none.
  double prepare = 0.0;
  /// For a program with parameters: the time at each tuple of values; `samples` are geometric means over
  /// these tuples. Else empty.
  std::vector<TimeAt> at = {};  // NOLINT(readability-redundant-member-init): may be left out

  bool operator==(const Timing&) const = default;
};

/// Throws InternalError if `samples` is empty or a sample is not finite and positive.
Timing make_timing(std::vector<double> samples);

}  // namespace tunesmith
#pragma GCC visibility pop
