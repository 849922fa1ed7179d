// The best programs of a task, and what sets the best apart.
#include <nlohmann/json.hpp>

#include <tunesmith/support/error.h>
#include <tunesmith/trace/trace.h>

#include "report/sections.h"

namespace tunesmith::report {
namespace {

constexpr size_t kShown = 5;

nlohmann::json or_null(bool known, const nlohmann::json& value) {
  return known ? value : nlohmann::json(nullptr);
}

nlohmann::json to_json(const Record& record, const TaskRecords& task) {
  return {{"record", record.id},
          {"run", record.run},
          {"space", record.space},
          {"kind", measurement_kind_name(record.kind)},
          {"seconds", or_null(record.ok(), record.seconds)},
          {"samples", record.timing ? record.timing->samples.size() : 0},
          {"disturbed", or_null(record.disturbed.has_value(), record.disturbed.value_or(false))},
          {"prepare_seconds", or_null(record.timing && record.timing->prepare > 0,
                                      record.timing ? record.timing->prepare : 0.0)},
          {"operations_per_second",
           or_null(record.ok() && task.workload && task.workload->flops > 0,
                   record.ok() && task.workload ? task.workload->flops / record.seconds : 0.0)}};
}

Trace trace_of(const Record& record) { return Trace::parse(record.trace, "record " + record.id); }

}  // namespace

nlohmann::json programs(const TaskRecords& task, const RecordStore& store, const PrintProgram& print) {
  nlohmann::json all{{"best", nlohmann::json::array()}, {"program", nullptr},
                     {"program_fault", nullptr},        {"trace", nullptr},
                     {"versus_runner_up", nullptr},     {"versus_unscheduled", nullptr}};
  all["unscheduled"] = task.unscheduled ? to_json(*task.unscheduled, task) : nlohmann::json(nullptr);
  const std::vector<Record> best = store.best({task.task, task.machine, {}}, kShown);
  if (best.empty()) return all;
  for (const Record& record : best) all["best"].push_back(to_json(record, task));
  const Trace trace = trace_of(best[0]);
  all["trace"] = trace.str();
  if (best.size() > 1) all["versus_runner_up"] = diff(trace_of(best[1]), trace);
  if (task.unscheduled) all["versus_unscheduled"] = diff(trace_of(*task.unscheduled), trace);
  try {
    all["program"] = print(best[0]);
  } catch (const UserError& error) {
    all["program_fault"] = error.what();
  }
  return all;
}

}  // namespace tunesmith::report
