// Many tasks as a table: while they are tuned, and at the end.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <tunesmith/tuning/tune_many.h>

namespace tunesmith::cli {

/// One row; what is not known is left out.
struct TaskRow {
  std::string name;
  double weight = 1.0;
  std::optional<double> seconds;        // of the best program, or its fastest sample so far
  std::optional<double> share_of_peak;  // of it: 1 is the machine's measured peak
  std::optional<double> gain;           // how many times as fast as the unscheduled program
  int64_t trials = 0;
  std::string trend;  // or what became of it
};

/// The gain of a task's last three rounds: "-12 %", "flat", "new" while it has had no more than these, "none"
/// when no program of it has worked.
std::string trend_text(const TaskHistory& history, int64_t round);

/// "71 %"; above the peak "113 % *", which kAbovePeak explains.
std::string share_text(double share);
inline constexpr const char* kAbovePeak =
    "* above the peak of plain multiply-adds: a unit whose extension names no peak may be faster, something "
    "else may have used the machine whenever the peak was measured, and operations on padding count although "
    "a program may skip them";

/// A heading and one line for each row, in at most `width` columns: the names give way. Columns that no row
/// has are left out, as are weights that are all 1. `times`: the heading of TaskRow::seconds.
std::vector<std::string> table_lines(const std::vector<TaskRow>& rows, size_t width,
                                     const std::string& times);

}  // namespace tunesmith::cli
