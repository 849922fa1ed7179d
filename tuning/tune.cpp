#include "tunesmith/tuning/tune_many.h"
#include "tunesmith/tuning/tuner.h"

namespace tunesmith {
namespace {

bool little_to_gain(const TuningTask& task, const TuneOptions& options) {
  if (options.min_gain <= 0.0 || task.trials() < options.batch) return false;
  TaskHistory history;
  history.trials = task.trials();
  history.improvements = task.improvements();
  const TaskSet alone{std::span(&history, 1), options.batch, TuningGoal::GeometricMean};
  return expected_share(alone, 0) < options.min_gain;
}

}  // namespace

TuneResult tune(const Workload& workload, const Space& space, RecordStore& store, Runner& runner,
                const Environment& environment, const TuneOptions& options, const TuneHooks& hooks) {
  TuningTask task(workload, space, store, runner, environment, options, hooks);
  bool enough = false;
  while (!task.done() && !enough) {
    task.step(options.batch);
    enough = little_to_gain(task, options);
  }
  return task.finish(enough && !task.done() ? "expected gain" : "");
}

}  // namespace tunesmith
