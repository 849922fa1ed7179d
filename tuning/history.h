// What the records know of a task, as candidates again.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "recorded_names.h"
#include "tunesmith/records/record_store.h"
#include "tunesmith/search/candidate.h"
#include "tunesmith/space/space.h"
#include "tunesmith/support/thread_pool.h"
#include "tunesmith/workload/workload.h"

namespace tunesmith {

/// What is on record of one program.
struct RecordedProgram {
  Record record;  // what says most: that it is wrong, a time, a lasting failure, a passing one
  std::optional<int64_t> own_ms;  // as KnownProgram's
  bool accepted = false;          // by the check as it is now
};

/// A program on record, made again.
struct KnownProgram {
  Measured measured;
  /// When the run that is being resumed, one of the same arguments, measured it first, as Record::time_ms;
  /// nothing when it did not.
  std::optional<int64_t> own_ms;
  bool retry = false;     // it failed for a reason that may have passed: nothing is known of it
  bool accepted = false;  // by the check as it is now; else by an earlier one, or never
};

/// The candidate that `record`, which is of the workload's task, tells of; null when its trace does not give
/// it any more.
CandidatePtr candidate_of(const Record& record, const Workload& workload, const Space& space,
                          const RecordedNames& names);

/// How many programs of other runs a search is given as candidates: replaying one takes a fifth of a
/// millisecond, and it takes 40 KB.
inline constexpr size_t kGivenPrograms = 1000;

/// All that a store has of a task on this machine, whoever measured it: read when it is made. What it is made
/// from outlives it.
class History {
 public:
  /// A record is the run's own when its run had the same rules, seed, searchers and cost model as `run`.
  History(const Workload& workload, const Space& space, const RecordStore& store, const RecordFilter& task,
          const RecordedRun& run, const RecordedNames& names, size_t given = kGivenPrograms);

  /// The next of the programs that are given as candidates, a few hundred of them; empty at the end. They are
  /// the run's own, the fastest of others, and the first two, which are the plain forms, in the order in
  /// which they were first measured. Traces are replayed, on all threads of the pool; no module is asked.
  std::vector<KnownProgram> next(ThreadPool& pool);
  /// Lowered hashes of the programs that are not given.
  const std::vector<uint64_t>& others() const { return others_; }
  /// Of those met so far, how many are not made again: their traces no longer replay, or lower to another
  /// program.
  int64_t lost() const { return lost_; }

 private:
  const Workload& workload_;
  const Space& space_;
  const RecordedNames& names_;
  std::vector<RecordedProgram> recorded_;
  size_t next_ = 0;
  std::vector<uint64_t> others_;
  int64_t lost_ = 0;
};

}  // namespace tunesmith
