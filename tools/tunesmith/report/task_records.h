// Records by what they are of: a task on one machine.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <tunesmith/records/record_store.h>
#include <tunesmith/trace/trace.h>
#include <tunesmith/workload/workload.h>

#include "report/report_data.h"

namespace tunesmith::report {

struct TaskRecords {
  std::string id;  // task_id()
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

  /// Of the task, by the store's one rule: without those whose traces cannot be read, and from the first on
  /// whose program could be printed, where one could.
  std::vector<Record> best;
  std::string program;        // of the first of them
  std::string program_fault;  // why the first on record is not the first here, or is not printed

  /// What the search of a run measured.
  std::vector<Record> searched(const std::string& run) const;
};

/// Of a task on one machine: 16 hexadecimal digits.
std::string task_id(const TaskKey& task, uint64_t machine);

/// "[3, 16] [16, 64] -> [3, 64]": of the first inputs with several dimensions, and of the results. What tells
/// tasks apart whose texts are names alone, as those of networks are.
std::string shapes_text(const Program& program);

/// Nothing where it cannot be read.
std::optional<Trace> trace_of(const Record& record);

/// Finds TaskRecords::best and what belongs to it.
void find_best(const RecordStore& store, const PrintProgram& print, TaskRecords& task);

/// In the order in which tasks came to the store. Throws what report_data() throws.
std::vector<TaskRecords> gather(const RecordStore& store, const Query& query);

}  // namespace tunesmith::report
