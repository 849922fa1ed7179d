#include "tunesmith/tuning/tuner.h"

namespace tunesmith {

TuneResult tune(const Workload& workload, const Space& space, RecordStore& store, Runner& runner,
                const Environment& environment, const TuneOptions& options, const TuneHooks& hooks) {
  TuningTask task(workload, space, store, runner, environment, options, hooks);
  while (!task.done()) task.step(options.batch);
  return task.finish();
}

}  // namespace tunesmith
