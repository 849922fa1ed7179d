// How far programs are below what the machine was measured to do at most.
#include <algorithm>
#include <map>
#include <tuple>

#include <nlohmann/json.hpp>

#include <tunesmith/support/hash.h>

#include "report/sections.h"

namespace tunesmith::report {
namespace {

/// The largest that was measured; null when nothing was.
nlohmann::json highest(const std::vector<RecordedRoof>& roofs, const std::map<uint64_t, uint64_t>& machines,
                       const TaskRecords& task, std::string_view quantity) {
  double most = 0.0;
  for (const RecordedRoof& roof : roofs) {
    const auto machine = machines.find(roof.environment);
    const bool same = machine != machines.end() && machine->second == task.machine &&
                      roof.target == task.task.target && roof.threads == task.task.threads &&
                      roof.device == task.task.device && roof.quantity == quantity;
    if (same) most = std::max(most, roof.per_second);
  }
  return most > 0.0 ? nlohmann::json(most) : nlohmann::json(nullptr);
}

}  // namespace

nlohmann::json rooflines(const std::vector<TaskRecords>& tasks, const RecordStore& store) {
  const std::vector<RecordedRoof> roofs = store.roofs();
  std::map<uint64_t, uint64_t> machines;  // by environment
  for (const Environment& environment : store.environments())
    machines[environment.hash()] = environment.machine();
  using Key = std::tuple<uint64_t, std::string, int, std::string, std::string>;
  std::map<Key, nlohmann::json> lines;
  for (const TaskRecords& task : tasks) {
    if (!task.workload || task.workload->flops <= 0 || task.workload->bytes_min <= 0) continue;
    const std::vector<Record> best = store.best({task.task, task.machine, {}}, 1);
    if (best.empty()) continue;
    const Workload& workload = *task.workload;
    const DType type = workload.program.outputs.front()->dtype;
    const Key key{task.machine, task.task.target, task.task.threads, task.task.device, type.str()};
    const auto [place, fresh] = lines.try_emplace(key);
    if (fresh) {
      place->second = {{"machine", hex64(task.machine)},
                       {"target", task.task.target},
                       {"threads", task.task.threads},
                       {"device", task.task.device},
                       {"type", type.str()},
                       {"operations_per_second", highest(roofs, machines, task, operations_roof(type))},
                       {"copied_bytes_per_second", highest(roofs, machines, task, kCopyRoof)},
                       {"points", nlohmann::json::array()}};
    }
    const bool plain = task.unscheduled && task.unscheduled->ok();
    place->second["points"].push_back(
        {{"task", task.id},
         {"workload", task.text},
         {"operations_per_byte", workload.flops / workload.bytes_min},
         {"operations_per_second", workload.flops / best.front().seconds},
         {"unscheduled_operations_per_second",
          plain ? nlohmann::json(workload.flops / task.unscheduled->seconds) : nlohmann::json(nullptr)}});
  }
  nlohmann::json all = nlohmann::json::array();
  for (auto& [key, line] : lines) all.push_back(std::move(line));
  return all;
}

}  // namespace tunesmith::report
