#include "tasks.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include <fmt/format.h>

#include <tunesmith/evaluation/replay.h>
#include <tunesmith/performance/features.h>
#include <tunesmith/records/record_store.h>
#include <tunesmith/support/error.h>
#include <tunesmith/support/thread_pool.h>
#include <tunesmith/tuning/tuner.h>
#include <tunesmith/workload/library.h>

#include "say.h"
#include "session.h"

namespace tunesmith::cli {
namespace {

/// Keeps each program's first success, or else its first failure; grouped by machine.
std::map<uint64_t, std::vector<Record>> programs_of(const RecordStore& store, const TaskKey& task) {
  RecordFilter filter;
  filter.task = task;
  filter.kind = MeasurementKind::Search;
  struct Machine {
    std::vector<Record> programs;
    std::unordered_map<uint64_t, size_t> places;  // by lowered hash; never iterated
  };
  std::map<uint64_t, uint64_t> machine_of;  // by environment
  std::map<uint64_t, Machine> machines;
  for (Record& record : store.list(filter)) {
    if (record.transient()) continue;
    const auto [known, fresh] = machine_of.try_emplace(record.environment, 0);
    if (fresh) known->second = store.environment(record.environment).value().machine();
    Machine& machine = machines[known->second];
    const auto [place, first] = machine.places.try_emplace(record.lowered_hash, machine.programs.size());
    if (first) {
      machine.programs.push_back(std::move(record));
    } else if (Record& earlier = machine.programs[place->second]; !earlier.ok() && record.ok()) {
      earlier = std::move(record);
    }
  }
  std::map<uint64_t, std::vector<Record>> programs;
  for (auto& [machine, of_it] : machines) programs[machine] = std::move(of_it.programs);
  return programs;
}

/// The measurements of one program.
struct Known {
  Trace trace;
  uint64_t lowered_hash = 0;
  std::optional<Timing> timing;
  std::optional<CandidateFailure> failure;
};

MeasuredTask make_task(Workload workload, std::vector<Known> known, const Space& space, ThreadPool& pool) {
  MeasuredTask task;
  task.workload = std::move(workload);
  task.device = space.device();
  std::vector<CandidatePtr> candidates(known.size());
  pool.parallel_for(known.size(), [&](size_t i) {
    auto made = space.materialise(task.workload.program, known[i].trace, RandomStream(0));
    if (!made || (*made)->lowered_hash != known[i].lowered_hash) return;
    candidates[i] = std::move(*made);
  });
  for (size_t i = 0; i < known.size(); ++i) {
    if (!candidates[i]) {
      ++task.lost;
      continue;
    }
    task.rows += static_cast<int64_t>(features_of(*candidates[i], space.device()).rows());
    task.programs.push_back(
        {std::move(candidates[i]), std::move(known[i].timing), std::move(known[i].failure)});
  }
  return task;
}

std::vector<Known> known_of(const std::vector<Record>& records) {
  std::vector<Known> known;
  for (const Record& record : records) {
    try {
      known.push_back({Trace::parse(record.trace, "record " + record.id), record.lowered_hash, record.timing,
                       record.failure});
    } catch (const UserError& error) {
      say(fmt::format("left out: {}", error.what()));
    }
  }
  return known;
}

}  // namespace

std::vector<MeasuredTask> load_measured_tasks(std::vector<std::string> stores, const Space& space) {
  if (stores.empty()) stores.emplace_back();
  ThreadPool pool;
  std::vector<MeasuredTask> tasks;
  size_t of_other_targets = 0;
  for (const std::string& name : stores) {
    const RecordStore store = open_records(name, RecordStore::Mode::Read);
    for (const TaskKey& key : store.tasks()) {
      const std::optional<RecordedWorkload> recorded = store.workload(key.workload_hash);
      const auto workload =
          recorded ? sound_workload(*recorded) : tl::make_unexpected(std::string("it is not there"));
      if (!workload) {
        say(fmt::format("{}: a workload is left out: {}", store.path().string(), workload.error()));
        continue;
      }
      if (task_key(*workload, space, key.threads).target != key.target) {
        ++of_other_targets;
        continue;
      }
      for (const auto& [machine, records] : programs_of(store, key)) {
        MeasuredTask task = make_task(*sound_workload(*recorded), known_of(records), space, pool);
        if (!task.programs.empty()) tasks.push_back(std::move(task));
      }
    }
  }
  if (tasks.empty()) {
    throw UserError(
        fmt::format(
            "no recorded programs for the target of space '{}'{}", space.spec().name,
            of_other_targets > 0 ? fmt::format("({} tasks have other targets)", of_other_targets) : ""),
        "'tunesmith tune' measures programs; --space chooses another target");
  }
  return tasks;
}

MeasuredTask load_measured_table(const std::string& file, const SpaceSpec& search, PluginRegistry& registry) {
  const Table table = load_table(file);
  const Space space(table_space(table, search), registry, make_table_target(table));
  std::vector<Known> known;
  for (const TableRow& row : table.rows) {
    Known program{Trace::parse(row.trace, file), row.lowered_hash, std::nullopt, row.failure};
    if (const std::optional<double> seconds = seconds_of(row)) program.timing = make_timing({*seconds});
    known.push_back(std::move(program));
  }
  ThreadPool pool;
  return make_task(workload_of(table), std::move(known), space, pool);
}

bool is_named(const Workload& workload, const std::string& text) {
  const auto [name, wanted] = parse_workload_text(text);
  const auto [known_name, known] = parse_workload_text(workload.key);
  return name == known_name && std::ranges::all_of(wanted, [&known](const ParamText& param) {
           return std::ranges::find(known, param) != known.end();
         });
}

}  // namespace tunesmith::cli
