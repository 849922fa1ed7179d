// Records grouped by task and machine.
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
  std::string text;      // of the workload, as stored
  std::optional<Workload> workload;
  std::string workload_fault;  // why there is no workload
  /// The selected runs, in the order of their beginning.
  std::vector<RecordedRun> runs;
  /// Attributed search and ranking records of these runs, in order of insertion.
  std::vector<Record> records;
  /// The unscheduled program, whichever run measured it.
  std::optional<Record> unscheduled;

  /// The task's best programs in the store's order, without those whose traces are unreadable, beginning with
  /// the first program that could be printed, if any.
  std::vector<Record> best;
  bool never_compared = false;  // RecordStore::never_compared
  std::string program;          // the printed program of best.front()
  std::string program_fault;    // why the store's first record is not first here, or is not printed

  /// The search measurements of a run.
  std::vector<Record> searched(const std::string& run) const;
};

/// Identifies a task on one machine: 16 hexadecimal digits.
std::string task_id(const TaskKey& task, uint64_t machine);

/// "[3, 16] [16, 64] -> [3, 64]": the first inputs with several dimensions, and the
/// results. Distinguishes tasks whose texts are only names, such as those of networks.
std::string shapes_text(const Program& program);

/// Nothing if the trace cannot be read.
std::optional<Trace> trace_of(const Record& record);

/// Computes TaskRecords::best and related fields.
void find_best(const RecordStore& store, const PrintProgram& print, TaskRecords& task);

/// In the order in which tasks were stored. Throws as report_data() does.
std::vector<TaskRecords> gather(const RecordStore& store, const Query& query);

}  // namespace tunesmith::report
