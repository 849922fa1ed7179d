// The ranking that a search did not get to: it was killed, or its time was over.
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
  size_t programs = 0;             // timed in turn; 0: there was nothing to compare
  std::vector<NotRanked> dropped;  // as TuneResult::dropped
};

/// Where the store's best programs were RecordStore::never_compared(), times the best few in turn, for a
/// second or two, and records that as a run of its own. Of the options it takes the threads, final_rounds,
/// the machine and the command. Throws the runner's exceptions, and those of the store.
RankedRecords rank_recorded(const Workload& workload, const Space& space, RecordStore& store, Runner& runner,
                            const Environment& environment, const TuneOptions& options);

}  // namespace tunesmith
#pragma GCC visibility pop
