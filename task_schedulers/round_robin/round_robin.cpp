// Chooses the unfinished task with the fewest trials, so that tasks take turns: the baseline of all
// schedulers.
#include <tunesmith/stable/task_scheduler.h>

namespace {

using namespace tunesmith;

class RoundRobin final : public TaskScheduler {
 public:
  size_t next(const TaskSet& set) const override { return *set.fewest_trials(); }
};

}  // namespace

TUNESMITH_PLUGIN(RoundRobin, PluginKind::TaskScheduler, "round_robin", "0.1.0",
                 "gives all tasks equally many trials, in turn");
