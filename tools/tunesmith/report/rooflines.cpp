// Programs compared with the machine's measured peaks.
#include <map>
#include <optional>
#include <tuple>

#include <nlohmann/json.hpp>

#include <tunesmith/measuring/peak.h>
#include <tunesmith/support/hash.h>

#include "report/sections.h"

namespace tunesmith::report {
namespace {

/// The largest roof, with its time and whether it was disturbed; null if none was measured.
nlohmann::json roof_json(const std::optional<RecordedRoof>& roof) {
  if (!roof) return nullptr;
  return {{"time_ms", roof->time_ms},
          {"disturbed", roof->disturbed ? nlohmann::json(*roof->disturbed) : nlohmann::json(nullptr)}};
}

nlohmann::json rate_json(const std::optional<RecordedRoof>& roof) {
  return roof ? nlohmann::json(roof->per_second) : nlohmann::json(nullptr);
}

}  // namespace

nlohmann::json rooflines(const std::vector<TaskRecords>& tasks, const RecordStore& store) {
  using Key = std::tuple<uint64_t, std::string, int, std::string, std::string>;
  std::map<Key, nlohmann::json> lines;
  for (const TaskRecords& task : tasks) {
    if (!task.workload || task.workload->flops <= 0 || task.workload->bytes_min <= 0) continue;
    if (task.best.empty()) continue;
    const Workload& workload = *task.workload;
    const DType type = computed_type(workload.program);
    const Key key{task.machine, task.task.target, task.task.threads, task.task.device, type.str()};
    const auto [place, fresh] = lines.try_emplace(key);
    if (fresh) {
      const auto peak = store.highest_roof(task.task, task.machine, operations_roof(type));
      const auto copied = store.highest_roof(task.task, task.machine, kCopyRoof);
      place->second = {{"machine", hex64(task.machine)},
                       {"target", task.task.target},
                       {"threads", task.task.threads},
                       {"device", task.task.device},
                       {"type", type.str()},
                       {"rate_unit", operations_unit(type)},
                       {"operations_per_second", rate_json(peak)},
                       {"copied_bytes_per_second", rate_json(copied)},
                       {"operations_measured", roof_json(peak)},
                       {"copying_measured", roof_json(copied)},
                       {"points", nlohmann::json::array()}};
    }
    const bool plain = task.unscheduled && task.unscheduled->ok();
    place->second["points"].push_back(
        {{"task", task.id},
         {"record", task.best.front().id},
         {"workload", task.text},
         {"operations_per_byte", workload.flops / workload.bytes_min},
         {"operations_per_second", workload.flops / task.best.front().seconds},
         {"unscheduled_operations_per_second",
          plain ? nlohmann::json(workload.flops / task.unscheduled->seconds) : nlohmann::json(nullptr)}});
  }
  nlohmann::json all = nlohmann::json::array();
  for (auto& [key, line] : lines) all.push_back(std::move(line));
  return all;
}

}  // namespace tunesmith::report
