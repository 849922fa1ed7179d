// Records by what they are of: a task on one machine.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <tunesmith/records/record_store.h>
#include <tunesmith/workload/workload.h>

#include "report/report_data.h"

namespace tunesmith::report {

struct TaskRecords {
  std::string id;  // of task and machine: 16 hexadecimal digits
  TaskKey task;
  uint64_t machine = 0;  // Environment::machine()
  std::string text;      // of the workload, as the store has it
  std::optional<Workload> workload;
  std::string workload_fault;  // why there is none
  /// Those that were asked for, in the order in which they began.
  std::vector<RecordedRun> runs;
  /// Of these runs, attributed, of a search or a ranking, as they were inserted.
  std::vector<Record> records;
  /// The program as it was written, whichever run measured it.
  std::optional<Record> unscheduled;

  /// What the search of a run measured.
  std::vector<Record> searched(const std::string& run) const;
};

/// In the order in which tasks came to the store. Throws what report_data() throws.
std::vector<TaskRecords> gather(const RecordStore& store, const Query& query);

}  // namespace tunesmith::report
