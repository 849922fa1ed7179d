#include "task_list.h"

#include <algorithm>

#include <fmt/format.h>

#include <tunesmith/support/error.h>
#include <tunesmith/workload/library.h>

#include "memory.h"
#include "traces.h"

namespace tunesmith::cli {
namespace {

/// The memory of an idle worker and of its state in this process.
constexpr double kWorkerBytes = 64e6;

void add(TaskList& list, const std::string& name, double weight, const TuneArguments& arguments) {
  Workload workload = find_workload(name, arguments.database);
  const auto equal = std::ranges::find_if(
      list.tasks, [&](const WeightedTask& task) { return task.workload.hash == workload.hash; });
  if (equal != list.tasks.end()) {
    equal->weight += weight;
    list.weighted = true;
    return;
  }
  require_memory(workload, arguments.allow_memory);
  list.tasks.push_back(weighted_task(std::move(workload), weight));
  list.names.push_back(name);
}

}  // namespace

WeightedTask weighted_task(Workload workload, double weight) {
  const double bytes = kWorkerBytes + measuring_bytes(workload);
  return {std::move(workload), weight, bytes};
}

TaskList read_task_list(const TuneArguments& arguments) {
  const std::vector<std::string>& given = arguments.workloads;
  if (!arguments.weights.empty() && arguments.weights.size() != given.size()) {
    throw UserError(
        fmt::format("--weight has {} weights for {} workloads", arguments.weights.size(), given.size()),
        "give one for each workload in order, separated by commas");
  }
  TaskList list;
  list.many = given.size() > 1;
  list.weighted = !arguments.weights.empty();
  for (size_t i = 0; i < given.size(); ++i) {
    const double weight = arguments.weights.empty() ? 1.0 : arguments.weights[i];
    if (!is_suite_file(given[i])) {
      add(list, given[i], weight, arguments);
      continue;
    }
    list.many = true;
    for (const WorkloadSuite& suite : read_suite_file(given[i])) {
      for (size_t j = 0; j < suite.workloads.size(); ++j) {
        list.weighted = list.weighted || suite.weights[j] != 1.0;
        add(list, suite.workloads[j], weight * suite.weights[j], arguments);
      }
    }
  }
  return list;
}

}  // namespace tunesmith::cli
