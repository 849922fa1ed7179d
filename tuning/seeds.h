// Programs of similar tasks on record, for a search to begin with.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tunesmith/records/record_store.h"
#include "tunesmith/trace/schedule.h"
#include "tunesmith/tuning/tuner.h"
#include "tunesmith/workload/workload.h"

namespace tunesmith {

/// Points of a task's sketches, and their sources.
struct Seeds {
  std::vector<Trace> traces;  // their decisions need not be legal: replaying them repairs them
  SeedCounts counts;
};

/// The records to consider.
struct SeedQuery {
  TaskKey task;              // the tuned task: others have its target and threads
  uint64_t machine = 0;      // Environment::machine()
  int64_t until_ms = 0;      // ignores later measurements: Record::time_ms
  size_t max_seeds = 16;     // in total
  size_t max_tasks = 4;      // with the nearest shapes
  size_t max_programs = 32;  // the fastest of each that are looked at
};

/// The fastest programs of similar tasks (similar_tasks.h) that are points of one
/// of `sketches`: their traces have its instructions and differ only in decisions
/// and in numbers of sampling instructions, which depend on the extents. Tasks
/// take turns, the nearest first, each with its fastest first. Deterministic.
Seeds find_seeds(const Workload& workload, std::span<const Schedule> sketches, const RecordStore& store,
                 const SeedQuery& query);

}  // namespace tunesmith
