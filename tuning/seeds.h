// What the records of similar tasks offer a search to begin with.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tunesmith/records/record_store.h"
#include "tunesmith/trace/schedule.h"
#include "tunesmith/tuning/tuner.h"
#include "tunesmith/workload/workload.h"

namespace tunesmith {

/// Points of a task's sketches, and where they are from.
struct Seeds {
  std::vector<Trace> traces;  // their decisions need not be legal: replaying them repairs them
  SeedCounts counts;
};

/// Whose records are asked.
struct SeedQuery {
  TaskKey task;              // that is tuned: others on its target, with its threads
  uint64_t machine = 0;      // Environment::machine()
  int64_t until_ms = 0;      // what was measured later is not there: Record::time_ms
  size_t max_seeds = 16;     // seeds in all
  size_t max_tasks = 4;      // those whose shapes are nearest
  size_t max_programs = 32;  // the fastest of each that are looked at
};

/// The fastest programs of similar tasks (similar_tasks.h) that are points of one of `sketches`: their traces
/// have its instructions and differ in decisions and in the numbers of sampling instructions, which depend on
/// the extents. Tasks give in turn, the nearest first and each its fastest first. The same records, the same
/// answer.
Seeds find_seeds(const Workload& workload, std::span<const Schedule> sketches, const RecordStore& store,
                 const SeedQuery& query);

}  // namespace tunesmith
