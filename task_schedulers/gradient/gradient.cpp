// Chooses the task whose next round is expected to lower the goal most: the gradient of Ansor's task
// scheduler (Zheng et al., OSDI 2020, section 6).
#include <algorithm>
#include <limits>

#include <tunesmith/stable/task_scheduler.h>

namespace {

using namespace tunesmith;

class Gradient final : public TaskScheduler {
 public:
  explicit Gradient(const Options& options)
      : alpha_(options.get_double("alpha")),
        beta_(options.get_double("beta")),
        window_(options.get_int("window")),
        fairness_(options.get_int("fairness")) {}

  size_t next(const TaskSet& set) const override {
    if (const std::optional<size_t> first = set.not_begun()) return *first;
    size_t chosen = *set.fewest_trials();
    if (is_fair_turn(set)) return chosen;
    double steepest = 0.0;
    for (size_t i = 0; i < set.tasks.size(); ++i) {
      if (set.tasks[i].done) continue;
      const double gradient = set.slope(set.tasks[i]) * expected_gain(set, i);
      if (gradient <= steepest) continue;
      steepest = gradient;
      chosen = i;
    }
    return chosen;
  }

 private:
  /// True in every `fairness`-th round, counting the rounds of all tasks.
  bool is_fair_turn(const TaskSet& set) const {
    if (fairness_ == 0) return false;
    int64_t trials = 0;
    for (const TaskHistory& task : set.tasks) trials += task.trials;
    return trials / set.round % fairness_ == fairness_ - 1;
  }

  /// The seconds per call that the next round is expected to save.
  double expected_gain(const TaskSet& set, size_t index) const {
    const TaskHistory& task = set.tasks[index];
    if (task.improvements.empty()) return 0.0;
    const double best = task.best();
    // The optimistic extrapolation is best / rounds ...
    const double rounds = static_cast<double>(task.trials) / static_cast<double>(set.round);
    double ahead = best / std::max(rounds, 1.0);
    // ... or more, if similar tasks have a higher throughput, which this one may reach.
    if (const double throughput = throughput_of_similar(set, index); throughput > 0.0)
      ahead = std::max(ahead, best - beta_ * task.operations / throughput);
    return alpha_ * gain_of_past(task, set.round) + (1.0 - alpha_) * ahead;
  }

  /// The mean seconds that a round of the window saved; 0 if there are too few rounds: the first, which saves
  /// most, does not count.
  double gain_of_past(const TaskHistory& task, int64_t round) const {
    const int64_t begin = task.trials - window_ * round;
    if (begin < round) return 0.0;
    const double before = task.best_after(begin);
    if (before == std::numeric_limits<double>::infinity()) return 0.0;
    return (before - task.best()) / static_cast<double>(window_);
  }

  /// The highest operations per second of other tasks in its group; 0 if there is none.
  static double throughput_of_similar(const TaskSet& set, size_t index) {
    double most = 0.0;
    for (size_t i = 0; i < set.tasks.size(); ++i) {
      const TaskHistory& other = set.tasks[i];
      if (i == index || other.group != set.tasks[index].group || other.improvements.empty()) continue;
      most = std::max(most, other.operations / other.best());
    }
    return most;
  }

  double alpha_;
  double beta_;
  int64_t window_;
  int64_t fairness_;
};

}  // namespace

TUNESMITH_PLUGIN(Gradient, PluginKind::TaskScheduler, "gradient", "0.1.0",
                 "gives each round to the task with the largest expected gain (Ansor's gradient)",
                 OptionSpec::real("alpha", 0.2, 0.0, 1.0,
                                  "how much the gain of past rounds counts, against what is still expected"),
                 OptionSpec::real("beta", 2.0, 1.0, 1000.0,
                                  "a task is expected to reach 1 / beta of the throughput of similar ones"),
                 OptionSpec::integer("window", 3, 1, 1000, "rounds over which the gain of the past is taken"),
                 OptionSpec::integer("fairness", 20, 0, 1000000,
                                     "every so many rounds one goes to the task with the fewest trials; 0 = "
                                     "never"));
