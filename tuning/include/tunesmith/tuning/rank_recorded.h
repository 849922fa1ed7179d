// Ranks programs on record that an interrupted search did not rank.
#pragma once

#include <cstddef>
#include <vector>

#include "tunesmith/measure/runner.h"
#include "tunesmith/records/record_store.h"
#include "tunesmith/space/space.h"
#include "tunesmith/tuning/tuner.h"

#pragma GCC visibility push(default)
namespace tunesmith {

struct RankedRecords {
  size_t programs = 0;             // number timed in turn; 0: nothing to compare
  std::vector<NotRanked> dropped;  // as TuneResult::dropped
};

/// If RecordStore::never_compared(), times the best few programs in turn, for a second or two, and records
/// that as a separate run. Of the options it uses the threads, final_rounds, machine and command. Throws the
/// exceptions of the runner and the store.
RankedRecords rank_recorded(const Workload& workload, const Space& space, RecordStore& store, Runner& runner,
                            const Environment& environment, const TuneOptions& options);

}  // namespace tunesmith
#pragma GCC visibility pop
