// The best programs of a task, and how the best differs.
#include <algorithm>

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

}  // namespace

nlohmann::json programs(const TaskRecords& task) {
  nlohmann::json all{{"best", nlohmann::json::array()},
                     {"program", nullptr},
                     {"program_fault", nullptr},
                     {"trace", nullptr},
                     {"versus_runner_up", nullptr},
                     {"versus_unscheduled", nullptr},
                     {"never_compared", task.never_compared}};
  all["unscheduled"] = task.unscheduled ? to_json(*task.unscheduled, task) : nlohmann::json(nullptr);
  all["program"] = or_null(!task.program.empty(), task.program);
  all["program_fault"] = or_null(!task.program_fault.empty(), task.program_fault);
  if (task.best.empty()) return all;
  for (size_t i = 0; i < std::min(kShown, task.best.size()); ++i)
    all["best"].push_back(to_json(task.best[i], task));
  const Trace trace = trace_of(task.best[0]).value();
  all["trace"] = trace.str();
  if (task.best.size() > 1) all["versus_runner_up"] = diff(trace_of(task.best[1]).value(), trace);
  if (task.unscheduled) all["versus_unscheduled"] = diff(trace_of(*task.unscheduled).value(), trace);
  return all;
}

}  // namespace tunesmith::report
