// A task's records as candidates.
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

/// The records of one program.
struct RecordedProgram {
  Record record;  // the most informative: that it is wrong, a time, a lasting failure, a transient one
  std::optional<int64_t> own_ms;  // as in KnownProgram
  bool accepted = false;          // by the current check
};

/// A program on record, made again.
struct KnownProgram {
  Measured measured;
  /// When the resumed run (with the same arguments) first
  /// measured it, as Record::time_ms; nothing if it did not.
  std::optional<int64_t> own_ms;
  bool retry = false;     // it failed transiently: nothing is known of it
  bool accepted = false;  // by the current check; else by an older one, or never
};

/// The candidate of `record`, which belongs to the workload's
/// task; null if its trace does not give it any more.
CandidatePtr candidate_of(const Record& record, const Workload& workload, const Space& space,
                          const RecordedNames& names);

/// The number of other runs' programs that a search gets as candidates:
/// replaying one takes a fifth of a millisecond, and 40 KB.
inline constexpr size_t kGivenPrograms = 1000;

/// All records of a task on this machine, of any run,
/// read at construction. Its arguments outlive it.
class History {
 public:
  /// A record is the run's own when its run had the same rules, seed, searchers and cost model as `run`.
  History(const Workload& workload, const Space& space, const RecordStore& store, const RecordFilter& task,
          const RecordedRun& run, const RecordedNames& names, size_t given = kGivenPrograms);

  /// The next few hundred candidates; empty at the end. Candidates are the run's own
  /// programs, the fastest of other runs, and the two plain forms, in the order of their
  /// first measurement. Replays traces on all threads of the pool, without modules.
  std::vector<KnownProgram> next(ThreadPool& pool);
  /// Lowered hashes of the programs that are not returned as candidates.
  const std::vector<uint64_t>& others() const { return others_; }
  /// The number so far of programs whose traces no
  /// longer replay, or lower to another program.
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
