// A task scheduler that searches the tasks in order, each for some rounds: a start for your own. The
// interface is documented in <tunesmith/stable/task_scheduler.h>.
#include <tunesmith/stable/task_scheduler.h>

namespace {

using namespace tunesmith;

class NullTaskScheduler final : public TaskScheduler {
 public:
  // The kernel has checked the options against the declaration at the end of this file.
  explicit NullTaskScheduler(const Options& options) : rounds_(options.get_int("rounds")) {}

  // Returns the index of a task that is not done. Must depend on the histories alone: an interrupted run
  // continues with another object and the same histories.
  size_t next(const TaskSet& set) const override {
    for (size_t i = 0; i < set.tasks.size(); ++i) {
      const TaskHistory& task = set.tasks[i];
      // Here: look at task.weight, task.best(), task.best_after(trials), set.slope(task), ...
      if (!task.done && task.trials < rounds_ * set.round) return i;
    }
    return *set.fewest_trials();
  }

 private:
  int64_t rounds_;
};

}  // namespace

// Class, kind, id, version, one line of help, options: name, default, least, most, help.
TUNESMITH_PLUGIN(NullTaskScheduler, PluginKind::TaskScheduler, "null_task_scheduler", "0.1.0",
                 "searches the tasks in their order",
                 OptionSpec::integer("rounds", 1, 1, 1000, "that a task gets before the next one is begun"));
