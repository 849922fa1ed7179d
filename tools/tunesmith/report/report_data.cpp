#include "report/report_data.h"

#include <set>

#include <nlohmann/json.hpp>

#include <tunesmith/measuring/peak.h>
#include <tunesmith/support/hash.h>
#include <tunesmith/support/version.h>

#include "report/sections.h"

namespace tunesmith::report {
namespace {

nlohmann::json to_json(const TaskRecords& task) {
  const bool known = task.workload.has_value();
  const auto of_workload = [&](auto value) {
    return known ? nlohmann::json(value()) : nlohmann::json(nullptr);
  };
  nlohmann::json one = {
      {"id", task.id},
      {"workload", task.text},
      {"workload_hash", hex64(task.task.workload_hash)},
      {"target", task.task.target},
      {"threads", task.task.threads},
      {"device", task.task.device},
      {"machine", hex64(task.machine)},
      {"workload_fault", known ? nlohmann::json(nullptr) : nlohmann::json(task.workload_fault)},
      {"operations", of_workload([&] { return task.workload->flops; })},
      {"bytes", of_workload([&] { return task.workload->bytes_min; })},
      {"type", of_workload([&] { return task.workload->program.outputs.front()->dtype.str(); })},
      {"shapes", of_workload([&] { return shapes_text(task.workload->program); })},
      {"rate_unit", of_workload([&] { return operations_unit(computed_type(task.workload->program)); })},
      {"environment",
       task.runs.empty() ? nlohmann::json(nullptr) : nlohmann::json(hex64(task.runs.back().environment))},
      {"runs", progress(task)},
      {"failures", failures(task)},
      {"predictions", predictions(task)},
      {"decisions", decisions(task)}};
  one.update(programs(task));
  return one;
}

nlohmann::json environments(const std::vector<TaskRecords>& tasks, const RecordStore& store) {
  std::set<uint64_t> hashes;
  for (const TaskRecords& task : tasks) {
    for (const RecordedRun& run : task.runs) hashes.insert(run.environment);
  }
  nlohmann::json all = nlohmann::json::array();
  for (const uint64_t hash : hashes) {
    const std::optional<Environment> environment = store.environment(hash);
    if (!environment) continue;
    nlohmann::json one = nlohmann::json::parse(environment->text());
    one["hash"] = hex64(hash);
    one["machine"] = hex64(environment->machine());
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace

nlohmann::json report_data(const RecordStore& store, const Query& query, const PrintProgram& print) {
  std::vector<TaskRecords> tasks = gather(store, query);
  for (TaskRecords& task : tasks) find_best(store, print, task);
  nlohmann::json all{{"made_ms", now_ms()},
                     {"tunesmith", kernel_version()},
                     {"store", store.path().string()},
                     {"records", store.count()},
                     {"tasks", nlohmann::json::array()},
                     {"budgets", budgets(tasks)},
                     {"rooflines", rooflines(tasks, store)},
                     {"environments", environments(tasks, store)}};
  for (const TaskRecords& task : tasks) all["tasks"].push_back(to_json(task));
  return all;
}

}  // namespace tunesmith::report
