// Chooses the task that takes most time: the highest weight * seconds.
#include <tunesmith/stable/task_scheduler.h>

namespace {

using namespace tunesmith;

class GreedyTime final : public TaskScheduler {
 public:
  size_t next(const TaskSet& set) const override {
    if (const std::optional<size_t> first = set.not_begun()) return *first;
    // While no unfinished task has a working program, the one with the fewest trials.
    size_t chosen = *set.fewest_trials();
    double most = 0.0;
    for (size_t i = 0; i < set.tasks.size(); ++i) {
      const TaskHistory& task = set.tasks[i];
      if (task.done || task.improvements.empty()) continue;
      const double seconds = task.weight * task.best();
      if (seconds <= most) continue;
      most = seconds;
      chosen = i;
    }
    return chosen;
  }
};

}  // namespace

TUNESMITH_PLUGIN(
    GreedyTime, PluginKind::TaskScheduler, "greedy_time", "0.1.0",
    "gives each round to the task with the most weighted time: weight * seconds of its best program");
