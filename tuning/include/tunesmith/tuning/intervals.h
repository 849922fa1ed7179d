// Chooses one of a task's best programs for each interval of a dynamic extent.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tunesmith/ir/program.h"
#include "tunesmith/records/record.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// The values in [lowest, highest], and the index of their program.
struct ValueInterval {
  int64_t lowest = 0;
  int64_t highest = 0;
  size_t program = 0;

  bool operator==(const ValueInterval&) const = default;
};

/// Adjacent intervals that cover the range of one parameter, ascending.
struct IntervalTable {
  size_t parameter = 0;
  std::vector<ValueInterval> intervals;
};

inline constexpr size_t kMaxIntervals = 4;

/// Minimises the sum over the measured values of log(time / time of the fastest program) + kIntervalGain per
/// additional interval. The boundary between two measured values is where the programs' times cross.
/// `times[i]` is Timing::at of the i-th program; the first program is the best overall and gets the whole
/// range if nothing is gained. Of several parameters, the one with the widest range is divided.
IntervalTable choose_intervals(const Program& program, std::span<const std::vector<TimeAt>> times);
inline constexpr double kIntervalGain = 0.1;

/// A task's program on record, and its interval of values.
struct RecordOfInterval {
  const Record* record = nullptr;
  int64_t lowest = 0;
  int64_t highest = 0;
};

struct RecordsOfIntervals {
  size_t parameter = 0;
  std::vector<RecordOfInterval> each;
};

/// Chooses among the records of the first one's ranking. `best`: in the order of RecordStore::best(), not
/// empty. A program without parameters has one interval.
RecordsOfIntervals records_of_intervals(const Program& program, std::span<const Record> best);

/// "n=1..31".
std::string interval_text(const Program& program, size_t parameter, int64_t lowest, int64_t highest);

}  // namespace tunesmith
#pragma GCC visibility pop
