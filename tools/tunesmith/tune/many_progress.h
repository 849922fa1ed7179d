// Shows the progress of many tasks: as a table on a terminal, as lines in a log.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <tunesmith/tuning/tune_many.h>

#include "live_table.h"
#include "task_list.h"
#include "task_table.h"

namespace tunesmith::cli {

class ManyProgress {
 public:
  /// `peaks`: one per task, in operations a second.
  ManyProgress(bool quiet, const TaskList& list, std::vector<double> peaks, const TuneManyOptions& options);

  void update(const TuneManyProgress& progress);
  /// Call it before other text goes to the same terminal, and at the end.
  void clear() { table_.clear(); }

 private:
  std::string head(const TuneManyProgress& progress) const;
  TaskRow row(const TuneManyProgress& progress, size_t task) const;
  std::vector<size_t> tasks_to_show(size_t most) const;
  void draw(const TuneManyProgress& progress);
  void log(const TuneManyProgress& progress);

  const bool quiet_;
  const TaskList& list_;
  const std::vector<double> peaks_;
  const TuneManyOptions& options_;
  LiveTable table_;
  std::vector<size_t> latest_;  // tasks by their last round, the latest first
  int64_t trials_begun_ = -1;   // the number of trials when searching began; -1: not yet
  double seconds_begun_ = 0.0;
  std::chrono::steady_clock::time_point logged_ = std::chrono::steady_clock::now();
  TuneManyProgress::Phase logged_phase_ = TuneManyProgress::Phase::Opening;
};

}  // namespace tunesmith::cli
