// Why candidates have no time.
#include <algorithm>
#include <map>

#include <nlohmann/json.hpp>

#include "report/sections.h"

namespace tunesmith::report {

nlohmann::json failures(const TaskRecords& task) {
  struct Cause {
    FailureCause cause;
    int64_t count = 0;
    std::string message;
  };
  std::map<FailureCause, Cause> causes;
  for (const Record& record : task.records) {
    if (!record.failure || record.kind != MeasurementKind::Search) continue;
    Cause& cause =
        causes.try_emplace(record.failure->cause, Cause{record.failure->cause, 0, ""}).first->second;
    if (++cause.count == 1) cause.message = record.failure->message;
  }
  std::vector<Cause> sorted;
  for (const auto& [key, cause] : causes) sorted.push_back(cause);
  std::ranges::stable_sort(sorted, std::ranges::greater(), &Cause::count);
  nlohmann::json all = nlohmann::json::array();
  for (const Cause& cause : sorted) {
    all.push_back({{"cause", failure_cause_name(cause.cause)},
                   {"meaning", failure_cause_meaning(cause.cause)},
                   {"count", cause.count},
                   {"message", cause.message}});
  }
  return all;
}

}  // namespace tunesmith::report
