// The data of a report as one JSON object: `report --json` prints it and the page draws it.
//
// Keys: "made_ms", "tunesmith", "store", "records", "tasks" (one for each task and machine, see sections.h),
// "budgets", "rooflines", "environments". Times are in seconds, rates per second; null is unknown. The
// command adds "comparisons" and "networks" (printed.h); where it serves the page, it adds "follows" and
// "fleet" (the output of `fleet --json`, or its "fault"). A page draws the keys that it finds.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <tunesmith/records/record_store.h>

namespace tunesmith::report {

/// Selects the content of a report; empty fields select everything.
struct Query {
  std::vector<std::string> workloads;  // texts, or names and some parameters: all workloads that match one
  std::vector<std::string> tasks;      // ids as shown in reports
  std::vector<std::string> runs;       // RecordedRun::id
};

/// The scheduled program of a record, printed. Throws UserError when it cannot be made.
using PrintProgram = std::function<std::string(const Record&)>;

/// Throws UserError with the nearest name if something requested is not in the store.
nlohmann::json report_data(const RecordStore& store, const Query& query, const PrintProgram& print);

}  // namespace tunesmith::report
