// The sections of a report, each implemented in the .cpp file of its name.
#pragma once

#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "report/task_records.h"

namespace tunesmith::report {

/// [{id, command, seed, space, searcher, cost_model, options, began_ms, ended_ms, ended_because, trials,
/// valid, seconds, best: [[trial, seconds since it began, best seconds so far]..]}], a point for each
/// improvement and for the last trial.
nlohmann::json progress(const TaskRecords& task);

/// [{cause, meaning, count, message (of the first)}], commonest first.
nlohmann::json failures(const TaskRecords& task);

/// [{run, cost_model, batches: [{trials, programs, rank_correlation, best_of_eighth}], programs: [[score,
/// seconds or null when it failed]..]}] of the runs whose scores are on record.
nlohmann::json predictions(const TaskRecords& task);

/// {best: [{record, run, space, kind, seconds, samples, disturbed, prepare_seconds,
/// operations_per_second}..], unscheduled: the same or null, program, program_fault, trace, versus_runner_up,
/// versus_unscheduled}: in the store's order of best programs, whichever run measured them.
nlohmann::json programs(const TaskRecords& task);

/// {programs, sketches: [{sketch, programs, seconds, decisions: [{decision, explained, chance, values:
/// [{value, programs, seconds}..]}..]}..]}: see importance.h.
nlohmann::json decisions(const TaskRecords& task);

/// [{machine, target, threads, device, type, operations_per_second, copied_bytes_per_second, points: [{task,
/// workload, operations_per_byte, operations_per_second, unscheduled_operations_per_second}..]}], the roofs
/// null where none was measured.
nlohmann::json rooflines(const std::vector<TaskRecords>& tasks, const RecordStore& store);

/// [{command, began_ms, seconds, runs: [{task, workload, run, trials, spent: [[seconds, trials so
/// far]..]}]}]: the commands that tuned several tasks.
nlohmann::json budgets(const std::vector<TaskRecords>& tasks);

}  // namespace tunesmith::report
