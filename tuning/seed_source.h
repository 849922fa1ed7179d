// Decides when a run looks up seeds from similar tasks.
#pragma once

#include <cstdint>

#include "task.h"
#include "trial_log.h"
#include "tunesmith/records/record_store.h"
#include "tunesmith/tuning/tuner.h"
#include "tunesmith/workload/workload.h"

namespace tunesmith {

/// Looks up similar tasks before the first round and, for tasks tuned in turn, again
/// whenever the number of trials has doubled. Uses the records at the time of that round's
/// first measurement, so that a resumed run gets the same. Its arguments outlive it.
class SeedSource {
 public:
  /// `machine`: Environment::machine().
  SeedSource(const Workload& workload, const RecordStore& store, const TaskKey& task, uint64_t machine,
             const TuneOptions& options, const TrialLog& log)
      : workload_(workload), store_(store), task_(task), machine_(machine), options_(options), log_(log) {}

  /// Before a round: sets the context's source of seeds if it has changed.
  void renew(Task& context);

 private:
  const Workload& workload_;
  const RecordStore& store_;
  const TaskKey& task_;
  const uint64_t machine_;
  const TuneOptions& options_;
  const TrialLog& log_;
  int64_t asked_before_ = -1;  // the trial number at the last look-up
};

}  // namespace tunesmith
