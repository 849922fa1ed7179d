// Takes tasks in turn, unless TUNESMITH_TEST_MISTAKE asks for a mistake.
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include <tunesmith/plugin/plugin.h>
#include <tunesmith/search/task_scheduler.h>

#include "mistake.h"

namespace {

using namespace tunesmith;

std::atomic<uint64_t> objects;
std::atomic<int> inside;

class BadTaskScheduler final : public TaskScheduler {
 public:
  size_t next(const TaskSet& set) const override {
    misbehave("next");
    const size_t fair = *set.fewest_trials();
    if (mistake("chooses_none")) return set.tasks.size();
    if (mistake("chooses_what_is_done")) {
      for (size_t i = 0; i < set.tasks.size(); ++i) {
        if (set.tasks[i].done) return i;
      }
    }
    if (mistake("objects_differ") && number_ % 2 == 1) return last_left(set);
    // A new object does not know this count.
    if (mistake("counts_questions") && ++asked_ % 3 == 0) return last_left(set);
    if (mistake("needs_success")) {
      bool works = false;
      for (const TaskHistory& task : set.tasks)
        works = works || task.trials == 0 || !task.improvements.empty();
      if (!works) throw std::runtime_error("nothing worked");
    }
    const bool alone = inside++ == 0;
    if (mistake("shares_state")) std::this_thread::sleep_for(std::chrono::milliseconds(5));
    --inside;
    return mistake("shares_state") && !alone ? last_left(set) : fair;
  }

 private:
  static size_t last_left(const TaskSet& set) {
    size_t last = 0;
    for (size_t i = 0; i < set.tasks.size(); ++i) {
      if (!set.tasks[i].done) last = i;
    }
    return last;
  }

  const uint64_t number_ = objects++;
  mutable uint64_t asked_ = 0;
};

}  // namespace

TUNESMITH_PLUGIN(BadTaskScheduler, PluginKind::TaskScheduler, "bad_task_scheduler", "1.0.0",
                 "makes the mistake that it is asked for");
