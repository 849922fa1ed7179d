// What the records know of a task, as candidates again.
#pragma once

#include <vector>

#include "tune/recorded_names.h"
#include "tunesmith/records/record_store.h"
#include "tunesmith/search/candidate.h"
#include "tunesmith/space/space.h"
#include "tunesmith/support/thread_pool.h"
#include "tunesmith/workload/workload.h"

namespace tunesmith {

/// A program on record.
struct KnownProgram {
  Measured measured;
  bool own = false;    // measured by a run of the same arguments, which is being taken up
  bool retry = false;  // it failed for a reason that may have passed: nothing is known of it
};

struct History {
  /// Each program once, in the order in which they were first measured.
  std::vector<KnownProgram> programs;
  /// Programs on record that are not made again: their traces no longer replay, or lower to another program.
  int64_t lost = 0;
};

/// All that `store` has of the task on this machine, whoever measured it. A record is the run's own when its
/// run had the same rules, seed, searchers and cost model as `run`. Traces are replayed on all threads of the
/// pool; no module is asked.
History load_history(const Workload& workload, const Space& space, const RecordStore& store,
                     const RecordFilter& task, const RecordedRun& run, const RecordedNames& names,
                     ThreadPool& pool);

}  // namespace tunesmith
