// How a command distributed its budget over several tasks.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "report/sections.h"

namespace tunesmith::report {
namespace {

struct Part {
  const TaskRecords* task;
  const RecordedRun* run;
  std::vector<Record> records;
  int64_t ended_ms;  // for a run without an end: the time of its last record
};

/// Runs of one command line that overlap in time belong to one call.
struct Call {
  std::vector<Part> parts;
  int64_t ended_ms = 0;

  bool holds(const Part& part) const {
    const RecordedRun& first = *parts.front().run;
    return first.command == part.run->command && first.environment == part.run->environment &&
           part.run->began_ms <= ended_ms;
  }
  bool shared() const {
    return std::ranges::any_of(parts, [&](const Part& part) { return part.task != parts.front().task; });
  }
};

/// The approximate maximum number of points of a curve.
constexpr size_t kPoints = 200;

nlohmann::json spent(const Part& part, int64_t began_ms) {
  nlohmann::json points = nlohmann::json::array({{0.0, 0}});
  const size_t stride = std::max<size_t>(1, part.records.size() / kPoints);
  for (size_t i = 0; i < part.records.size(); ++i) {
    if ((i + 1) % stride != 0 && i + 1 != part.records.size()) continue;
    points.push_back({static_cast<double>(part.records[i].time_ms - began_ms) * 1e-3, i + 1});
  }
  return points;
}

nlohmann::json to_json(const Call& call) {
  const int64_t began_ms = call.parts.front().run->began_ms;
  nlohmann::json runs = nlohmann::json::array();
  for (const Part& part : call.parts) {
    runs.push_back({{"task", part.task->id},
                    {"workload", part.task->text},
                    {"run", part.run->id},
                    {"trials", part.records.size()},
                    {"spent", spent(part, began_ms)}});
  }
  return {{"command", call.parts.front().run->command},
          {"began_ms", began_ms},
          {"seconds", static_cast<double>(call.ended_ms - began_ms) * 1e-3},
          {"runs", std::move(runs)}};
}

}  // namespace

nlohmann::json budgets(const std::vector<TaskRecords>& tasks) {
  std::vector<Part> parts;
  for (const TaskRecords& task : tasks) {
    for (const RecordedRun& run : task.runs) {
      std::vector<Record> records = task.searched(run.id);
      const int64_t last = records.empty() ? run.began_ms : records.back().time_ms;
      parts.push_back({&task, &run, std::move(records), std::max(last, run.ended_ms)});
    }
  }
  std::ranges::stable_sort(parts, {}, [](const Part& part) { return part.run->began_ms; });
  std::vector<Call> calls;
  for (Part& part : parts) {
    auto call = std::ranges::find_if(calls, [&](const Call& one) { return one.holds(part); });
    if (call == calls.end()) call = calls.insert(calls.end(), Call{});
    call->ended_ms = std::max(call->ended_ms, part.ended_ms);
    call->parts.push_back(std::move(part));
  }
  nlohmann::json all = nlohmann::json::array();
  for (const Call& call : calls) {
    if (call.shared()) all.push_back(to_json(call));
  }
  return all;
}

}  // namespace tunesmith::report
