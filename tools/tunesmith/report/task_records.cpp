#include "report/task_records.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <tunesmith/support/error.h>
#include <tunesmith/support/hash.h>
#include <tunesmith/trace/trace.h>
#include <tunesmith/workload/library.h>

namespace tunesmith::report {
namespace {

/// The hashes of the recorded workloads that match.
std::set<uint64_t> hashes_of(const RecordStore& store, const std::vector<std::string>& wanted) {
  std::set<uint64_t> hashes;
  std::vector<std::string> known;
  std::map<uint64_t, std::string> texts;
  for (const TaskKey& task : store.tasks()) {
    const auto recorded = store.workload(task.workload_hash);
    if (!recorded) continue;
    texts[task.workload_hash] = recorded->text;
    known.push_back(recorded->text);
    known.push_back(parse_workload_text(recorded->text).first);
  }
  for (const std::string& text : wanted) {
    const auto [name, params] = parse_workload_text(text);
    bool found = false;
    for (const auto& [hash, recorded] : texts) {
      const auto [known_name, known_params] = parse_workload_text(recorded);
      const bool fits = known_name == name && std::ranges::all_of(params, [&](const ParamText& param) {
                          return std::ranges::find(known_params, param) != known_params.end();
                        });
      if (!fits) continue;
      found = true;
      hashes.insert(hash);
    }
    if (!found) {
      throw UserError(fmt::format("no record of a workload '{}' in {}", text, store.path().string()),
                      suggest(text, known));
    }
  }
  return hashes;
}

bool is_unscheduled(const Record& record) {
  constexpr size_t kLongest = 100;  // an unscheduled program's trace is short: a version and the marker
  if (record.trace.size() > kLongest) return false;
  const std::optional<Trace> trace = trace_of(record);
  return trace && trace->complete() && trace->size() == 1;
}

void add_workload(const RecordStore& store, TaskRecords& task) {
  const std::optional<RecordedWorkload> recorded = store.workload(task.task.workload_hash);
  if (!recorded) {
    task.text = task.records.empty() ? hex64(task.task.workload_hash) : task.records.front().workload;
    task.workload_fault = "its definition is missing in the store";
    return;
  }
  task.text = recorded->text;
  if (auto workload = sound_workload(*recorded)) {
    task.workload = std::move(*workload);
  } else {
    task.workload_fault = workload.error();
  }
}

void add_runs(const RecordStore& store, TaskRecords& task) {
  std::set<std::string> ids;
  for (const Record& record : task.records) ids.insert(record.run);
  for (const std::string& id : ids) {
    if (std::optional<RecordedRun> run = store.run(id)) task.runs.push_back(std::move(*run));
  }
  std::ranges::sort(task.runs, [](const RecordedRun& a, const RecordedRun& b) {
    return std::tie(a.began_ms, a.id) < std::tie(b.began_ms, b.id);
  });
}

void require_known(const std::vector<std::string>& wanted, const std::set<std::string>& known,
                   const char* what, const RecordStore& store) {
  for (const std::string& id : wanted) {
    if (known.contains(id)) continue;
    throw UserError(fmt::format("no {} '{}' in {}", what, id, store.path().string()),
                    suggest(id, {known.begin(), known.end()}));
  }
}

}  // namespace

std::string task_id(const TaskKey& task, uint64_t machine) {
  uint64_t hash = hash_bytes(task.target + '\n' + task.device, task.workload_hash);
  for (const uint64_t part : {static_cast<uint64_t>(task.threads), machine}) hash = hash_combine(hash, part);
  return hex64(hash);
}

std::string shapes_text(const Program& program) {
  constexpr size_t kShownInputs = 3;
  std::string text;
  size_t shown = 0;
  for (const Buffer& input : program.inputs) {
    if (input->shape.size() < 2 || shown++ >= kShownInputs) continue;
    text += fmt::format("[{}] ", fmt::join(input->shape, ", "));
  }
  text += "->";
  for (const Buffer& result : program.outputs) text += fmt::format(" [{}]", fmt::join(result->shape, ", "));
  return text;
}

std::optional<Trace> trace_of(const Record& record) {
  try {
    return Trace::parse(record.trace, "record " + record.id);
  } catch (const UserError&) {
    return std::nullopt;
  }
}

void find_best(const RecordStore& store, const PrintProgram& print, TaskRecords& task) {
  constexpr size_t kLookedAt = 64;
  task.best = store.best({task.task, task.machine, {}}, kLookedAt);
  task.never_compared = store.never_compared({task.task, task.machine, {}});
  std::erase_if(task.best, [&](const Record& record) {
    if (trace_of(record)) return false;
    task.program_fault = fmt::format("the trace of record {} cannot be read", record.id);
    return true;
  });
  for (size_t i = 0; i < task.best.size(); ++i) {
    try {
      task.program = print(task.best[i]);
      task.best.erase(task.best.begin(), task.best.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    } catch (const UserError& error) {
      if (task.program_fault.empty()) task.program_fault = error.what();
    }
  }
}

std::vector<Record> TaskRecords::searched(const std::string& run) const {
  std::vector<Record> found;
  std::ranges::copy_if(records, std::back_inserter(found), [&](const Record& record) {
    return record.kind == MeasurementKind::Search && record.run == run;
  });
  return found;
}

std::vector<TaskRecords> gather(const RecordStore& store, const Query& query) {
  const std::set<uint64_t> hashes = hashes_of(store, query.workloads);
  const std::set<std::string> runs(query.runs.begin(), query.runs.end());
  const std::set<std::string> ids(query.tasks.begin(), query.tasks.end());
  std::map<uint64_t, uint64_t> machines;  // by environment
  for (const Environment& environment : store.environments())
    machines[environment.hash()] = environment.machine();
  std::vector<TaskRecords> tasks;
  std::map<std::string, size_t> places;
  std::set<std::string> known_runs;
  std::set<std::string> known_tasks;
  store.for_each({}, [&](const Record& record) {
    if (record.kind == MeasurementKind::Bench) return;
    const auto machine = machines.find(record.environment);
    if (machine == machines.end()) return;  // the environment is damaged; `records check` reports it
    const std::string id = task_id(record.task(), machine->second);
    known_tasks.insert(id);
    known_runs.insert(record.run);
    if (!hashes.empty() && !hashes.contains(record.workload_hash)) return;
    if (!ids.empty() && !ids.contains(id)) return;
    const auto [place, fresh] = places.try_emplace(id, tasks.size());
    if (fresh) {
      tasks.push_back({});
      tasks.back().id = id;
      tasks.back().task = record.task();
      tasks.back().machine = machine->second;
    }
    TaskRecords& task = tasks[place->second];
    if (is_unscheduled(record) && record.kind == MeasurementKind::Search &&
        (!task.unscheduled || !task.unscheduled->ok()))
      task.unscheduled = record;
    if (runs.empty() || runs.contains(record.run)) task.records.push_back(record);
  });
  require_known(query.tasks, known_tasks, "task", store);
  require_known(query.runs, known_runs, "run", store);
  std::erase_if(tasks, [](const TaskRecords& task) { return task.records.empty(); });
  for (TaskRecords& task : tasks) {
    add_workload(store, task);
    add_runs(store, task);
  }
  return tasks;
}

}  // namespace tunesmith::report
