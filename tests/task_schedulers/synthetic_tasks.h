// Tasks whose best time is a function of their trials, so that the best use of a budget is known.
#pragma once

#include <cmath>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <tunesmith/plugin/registry.h>
#include <tunesmith/search/task_scheduler.h>

namespace tunesmith::test {

inline constexpr int64_t kRound = 16;

/// The best program's seconds after a number of trials.
using Curve = std::function<double(int64_t trials)>;

/// Falls from `first` to `last`; the distance halves every `half` trials.
inline Curve falling(double first, double last, double half) {
  return
      [=](int64_t trials) { return last + (first - last) * std::exp2(-static_cast<double>(trials) / half); };
}

struct SyntheticTask {
  Curve curve;
  double weight = 1.0;
  uint64_t group = 0;
  double operations = 1e6;
};

/// A run of a scheduler over tasks.
class SyntheticRun {
 public:
  SyntheticRun(std::vector<SyntheticTask> tasks, TuningGoal goal) : tasks_(std::move(tasks)), goal_(goal) {
    for (const SyntheticTask& task : tasks_) {
      TaskHistory history;
      history.weight = task.weight;
      history.group = task.group;
      history.operations = task.operations;
      histories.push_back(history);
    }
  }

  /// One round of the task.
  void advance(size_t task) {
    TaskHistory& history = histories[task];
    for (int64_t i = 0; i < kRound; ++i) {
      ++history.trials;
      const double seconds = tasks_[task].curve ? tasks_[task].curve(history.trials) : history.best();
      if (seconds < history.best()) history.improvements.push_back({history.trials, seconds});
    }
    chosen.push_back(task);
  }

  void go_on(const TaskScheduler& scheduler, int rounds) {
    for (int round = 0; round < rounds; ++round) advance(scheduler.next(set()));
  }

  TaskSet set() const { return {histories, kRound, goal_}; }

  /// The goal, lower is better.
  double goal() const {
    double sum = 0.0;
    for (const TaskHistory& history : histories)
      sum += history.weight * (goal_ == TuningGoal::TotalTime ? history.best() : std::log(history.best()));
    return sum;
  }

  std::vector<TaskHistory> histories;
  std::vector<size_t> chosen;

 private:
  std::vector<SyntheticTask> tasks_;
  TuningGoal goal_;
};

inline std::shared_ptr<TaskScheduler> make_scheduler(PluginRegistry& registry, const std::string& id,
                                                     const std::vector<RawOption>& options = {}) {
  return registry.create<TaskScheduler>(
      id, Options::validate(registry.option_specs(PluginKind::TaskScheduler, id), options, id));
}

inline RawOption option(const std::string& name, const std::string& value) {
  return {name, {}, RawOption::Shape::Scalar, {{value, {}}}, {}};
}

}  // namespace tunesmith::test
