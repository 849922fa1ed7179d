// A table of many tasks, during and after tuning.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <tunesmith/tuning/tune_many.h>

namespace tunesmith::cli {

/// One row; unknown fields are omitted.
struct TaskRow {
  std::string name;
  double weight = 1.0;
  std::optional<double> seconds;        // the best program's, or its fastest sample so far
  std::optional<double> share_of_peak;  // the best program's; 1 is the machine's measured peak
  std::optional<double> gain;           // speed-up over the unscheduled program
  int64_t trials = 0;
  std::string trend;  // or the task's final state
};

/// The gain of a task's last three rounds: "-12 %", "flat", "new" if it has had at most three, "none" if none
/// of its programs has worked.
std::string trend_text(const TaskHistory& history, int64_t round);

/// "71 %"; above the peak "113 % *", which kAbovePeak explains.
std::string share_text(double share);
inline constexpr const char* kAbovePeak =
    "* above the multiply-add peak: a unit without a known peak may be faster, the peak measurement may have "
    "been disturbed, and operations on padding count even if a program skips them";

/// A heading and one line per row, in at most `width` columns: names are shortened. Omits columns without a
/// value, and weights that are all 1. `times`: the heading of TaskRow::seconds.
std::vector<std::string> table_lines(const std::vector<TaskRow>& rows, size_t width,
                                     const std::string& times);

}  // namespace tunesmith::cli
