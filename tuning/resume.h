// Taking up a run that was interrupted, and what others know of its task.
#pragma once

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "history.h"
#include "task.h"
#include "trial_log.h"
#include "tunesmith/tuning/tuner.h"

namespace tunesmith {

struct Resumed {
  int64_t known = 0;  // programs of the task on record
  int64_t lost = 0;   // of them, those that their traces do not give any more
  /// Of this run: failed for a reason that may have passed, to be measured again. They are counted.
  std::vector<CandidatePtr> retried;
  /// Of the round that was cut short, if it can be proposed again from what was known before it: neither
  /// counted nor told to the context yet.
  std::vector<Measured> cut_round;
  /// Lowered hashes of programs with a time that the check as it is now has not accepted.
  std::unordered_set<uint64_t> unchecked;
};

/// Tells `context` and `log` of all programs of the history but those, a few hundred at a time.
Resumed resume_run(History& history, Task& context, TrialLog& log, const Space& space,
                   const TuneOptions& options);

}  // namespace tunesmith
