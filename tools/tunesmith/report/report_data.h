// What a report says, as one JSON object: what `report --json` prints and what the page is drawn from.
//
// Keys: "made_ms", "tunesmith", "store", "records", "tasks" (one for each task and machine,
// see sections.h), "budgets", "rooflines", "environments". Times are seconds, rates are in a second, and what
// is not known is null. The command adds "comparisons" and "networks" (printed.h), and where it serves the
// page "follows" and "fleet" (what `fleet --json` prints, or its "fault"); a page draws the keys that it
// finds.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <tunesmith/records/record_store.h>

namespace tunesmith::report {

/// Selects the content of a report; empty fields select everything.
struct Query {
  std::vector<std::string> workloads;  // texts, or names and some parameters: every workload that fits one
  std::vector<std::string> tasks;      // ids as shown in reports
  std::vector<std::string> runs;       // RecordedRun::id
};

/// The scheduled program of a record, printed. Throws UserError when it cannot be made.
using PrintProgram = std::function<std::string(const Record&)>;

/// Throws UserError if something requested is not in the store, with the nearest that is.
nlohmann::json report_data(const RecordStore& store, const Query& query, const PrintProgram& print);

}  // namespace tunesmith::report
