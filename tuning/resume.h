// Resumes an interrupted run, and gets what other runs know of its task.
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
  int64_t lost = 0;   // of these, those that their traces do not give any more
  /// Transient failures of this run, counted, to be measured again.
  std::vector<CandidatePtr> retried;
  /// The interrupted round, if it can be proposed again from what
  /// was known before it: neither counted nor passed to the context.
  std::vector<Measured> cut_round;
  /// Lowered hashes of programs with a time that the check as it is now has not accepted.
  std::unordered_set<uint64_t> unchecked;
};

/// Passes all other programs of the history to `context` and `log`, a few hundred at a time.
Resumed resume_run(History& history, Task& context, TrialLog& log, const Space& space,
                   const TuneOptions& options);

}  // namespace tunesmith
