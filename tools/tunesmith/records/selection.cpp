#include "selection.h"

#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "report/task_records.h"
#include "traces.h"

namespace tunesmith::cli {
namespace {

/// The recorded texts that match the request, with their hashes; if none does, the library's. The store comes
/// first, because a workload's file may be gone. Throws UserError for an unknown name.
std::set<std::pair<std::string, uint64_t>> workloads_of(const std::string& asked, const RecordStore& store) {
  std::set<std::pair<std::string, uint64_t>> all, found;
  store.for_each({}, [&](const Record& record) { all.emplace(record.workload, record.workload_hash); });
  for (const auto& each : all) {
    if (fits(each.first, asked)) found.insert(each);
  }
  if (found.empty()) {
    const Workload known = find_workload(asked, store.path());
    found.emplace(known.key, known.hash);
  }
  return found;
}

}  // namespace

const std::string& ShownWorkloads::shapes(const Record& record) {
  const auto [place, fresh] = shapes_.try_emplace({record.workload_hash, record.workload});
  if (!fresh || record.workload.find(':') != std::string::npos) return place->second;
  const std::optional<RecordedWorkload> recorded = store_.workload(record.workload_hash, record.workload);
  if (!recorded) return place->second;
  if (const auto workload = sound_workload(*recorded)) place->second = report::shapes_text(workload->program);
  return place->second;
}

std::string ShownWorkloads::text(const Record& record) {
  const std::string& its = shapes(record);
  return its.empty() ? record.workload : fmt::format("{} {}", record.workload, its);
}

std::vector<RecordFilter> filters_of(const std::string& workload, const RecordStore& store) {
  if (workload.empty()) return {RecordFilter()};
  std::vector<RecordFilter> filters;
  for (const auto& [text, hash] : workloads_of(workload, store)) filters.push_back({.workload = text});
  return filters;
}

std::vector<TaskKey> tasks_of(const std::string& workload, const RecordStore& store) {
  std::vector<TaskKey> tasks = store.tasks();
  if (workload.empty()) return tasks;
  std::set<uint64_t> hashes;
  for (const auto& [text, hash] : workloads_of(workload, store)) hashes.insert(hash);
  std::erase_if(tasks, [&](const TaskKey& task) { return !hashes.contains(task.workload_hash); });
  return tasks;
}

}  // namespace tunesmith::cli
