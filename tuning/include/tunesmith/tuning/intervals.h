// Which of a task's best programs are for which values of its extents that vary.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tunesmith/ir/program.h"
#include "tunesmith/records/record.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// From `lowest` to `highest`, both included.
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

/// The intervals with which the sum of the logarithms of the times relative to the fastest program's is the
/// least, where each interval more must lower it by kIntervalGain: the boundary between two measured values
/// is where the programs' times cross. `times[i]`: of the i-th program (Timing::at), the best of all first,
/// which gets the whole range where nothing is gained. Of several parameters that with the widest range
/// decides.
IntervalTable choose_intervals(const Program& program, std::span<const std::vector<TimeAt>> times);
inline constexpr double kIntervalGain = 0.1;

/// A task's program on record, and for which values it is.
struct RecordOfInterval {
  const Record* record = nullptr;
  int64_t lowest = 0;
  int64_t highest = 0;
};

struct RecordsOfIntervals {
  size_t parameter = 0;
  std::vector<RecordOfInterval> each;
};

/// `best`: as RecordStore::best() orders them, not empty; those of the ranking that the first is of are
/// chosen from. A program without parameters has one interval.
RecordsOfIntervals records_of_intervals(const Program& program, std::span<const Record> best);

/// "n=1..31".
std::string interval_text(const Program& program, size_t parameter, int64_t lowest, int64_t highest);

}  // namespace tunesmith
#pragma GCC visibility pop
