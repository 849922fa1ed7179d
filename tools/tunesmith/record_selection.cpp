#include "record_selection.h"

#include <algorithm>
#include <set>
#include <utility>

#include <tunesmith/workload/library.h>

#include "traces.h"

namespace tunesmith::cli {
namespace {

/// Is `text`, a workload's on record, what was asked for: all of it, or its name and some of its parameters?
bool matches(const std::string& text, const std::string& asked) {
  if (text == asked) return true;
  const auto [name, known] = parse_workload_text(text);
  const auto [asked_name, wanted] = parse_workload_text(asked);
  return name == asked_name && std::ranges::all_of(wanted, [&](const ParamText& param) {
           return std::ranges::find(known, param) != known.end();
         });
}

/// The texts on record that were asked for, with their hashes. A workload may be of a file that is no longer
/// there, so the store is asked before the library, which throws UserError for a name that nobody knows.
std::set<std::pair<std::string, uint64_t>> workloads_of(const std::string& asked, const RecordStore& store) {
  std::set<std::pair<std::string, uint64_t>> all, found;
  store.for_each({}, [&](const Record& record) { all.emplace(record.workload, record.workload_hash); });
  for (const auto& each : all) {
    if (matches(each.first, asked)) found.insert(each);
  }
  if (found.empty()) {
    const Workload known = find_workload(asked, store.path());
    found.emplace(known.key, known.hash);
  }
  return found;
}

}  // namespace

std::vector<RecordFilter> filters_of(const std::string& workload, const RecordStore& store) {
  if (workload.empty()) return {RecordFilter()};
  std::vector<RecordFilter> filters;
  for (const auto& [text, hash] : workloads_of(workload, store)) filters.push_back({.workload = text});
  return filters;
}

std::vector<TaskKey> tasks_of(const std::string& workload, const RecordStore& store) {
  std::vector<TaskKey> tasks = store.tasks({.attributed = true});
  if (workload.empty()) return tasks;
  std::set<uint64_t> hashes;
  for (const auto& [text, hash] : workloads_of(workload, store)) hashes.insert(hash);
  std::erase_if(tasks, [&](const TaskKey& task) { return !hashes.contains(task.workload_hash); });
  return tasks;
}

}  // namespace tunesmith::cli
