// What the records know of a task, as candidates again.
#pragma once

#include <cstdint>
#include <optional>
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
  /// When the run that is being taken up, one of the same arguments, measured it first, as Record::time_ms;
  /// nothing when it did not.
  std::optional<int64_t> own_ms;
  bool retry = false;  // it failed for a reason that may have passed: nothing is known of it
};

/// How many programs of other runs a search is given as candidates: replaying one takes a fifth of a
/// millisecond, and it takes 40 KB.
inline constexpr size_t kGivenPrograms = 1000;

struct History {
  /// The run's own, the fastest of others, and the first two, which are the plain forms; in the order in
  /// which they were first measured.
  std::vector<KnownProgram> programs;
  /// Lowered hashes of the others.
  std::vector<uint64_t> others;
  /// Programs on record that are not made again: their traces no longer replay, or lower to another program.
  int64_t lost = 0;
};

/// All that `store` has of the task on this machine, whoever measured it. A record is the run's own when its
/// run had the same rules, seed, searchers and cost model as `run`. Traces of the programs that are given as
/// candidates are replayed, on all threads of the pool; no module is asked.
History load_history(const Workload& workload, const Space& space, const RecordStore& store,
                     const RecordFilter& task, const RecordedRun& run, const RecordedNames& names,
                     ThreadPool& pool, size_t given = kGivenPrograms);

}  // namespace tunesmith
