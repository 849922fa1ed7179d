// When a run asks the records of similar tasks for seeds.
#pragma once

#include <cstdint>

#include "task.h"
#include "trial_log.h"
#include "tunesmith/records/record_store.h"
#include "tunesmith/tuning/tuner.h"
#include "tunesmith/workload/workload.h"

namespace tunesmith {

/// Similar tasks are asked before the first round and, where they are tuned in turn with this one, again
/// whenever there are twice as many trials. What counts is what was on record when that round's first program
/// was measured, so a run that is resumed is given the same. What it is given outlives it.
class SeedSource {
 public:
  /// `machine`: Environment::machine().
  SeedSource(const Workload& workload, const RecordStore& store, const TaskKey& task, uint64_t machine,
             const TuneOptions& options, const TrialLog& log)
      : workload_(workload), store_(store), task_(task), machine_(machine), options_(options), log_(log) {}

  /// Before a round: tells the context where its seeds come from, where they are others than before.
  void renew(Task& context);

 private:
  const Workload& workload_;
  const RecordStore& store_;
  const TaskKey& task_;
  const uint64_t machine_;
  const TuneOptions& options_;
  const TrialLog& log_;
  int64_t asked_before_ = -1;  // the trial before which they were asked last
};

}  // namespace tunesmith
