// Formats records for lists and objects.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include <tunesmith/records/record_store.h>

#include "selection.h"

namespace tunesmith::cli {

/// The time, "1.23 ms", or why there is none.
std::string outcome(const Record& record);
/// "2 threads", "1 thread on DEVICE".
std::string threads_text(const TaskKey& task);
/// "2026-11-22 01:45:00 UTC".
std::string date_text(int64_t time_ms);
/// The id of the record's task on its machine; "" if the task or the machine is unknown.
std::string task_of(const Record& record, const RecordStore& store);
/// Leaves out the trace.
nlohmann::json to_json(const Record& record, const RecordStore& store, ShownWorkloads& shown);

}  // namespace tunesmith::cli
