#include "seeds.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "tunesmith/support/error.h"
#include "tunesmith/tuning/similar_tasks.h"

namespace tunesmith {
namespace {

/// The part of a sampling instruction's argument that is independent of extents: everything but numbers.
Arg without_numbers(const Arg& arg) {
  if (std::holds_alternative<int64_t>(arg) || std::holds_alternative<double>(arg)) return int64_t{0};
  const auto* list = std::get_if<ArgList>(&arg);
  if (list == nullptr) return arg;
  ArgList rest;
  for (const Arg& item : *list) {
    if (Arg kept = without_numbers(item); !std::holds_alternative<int64_t>(kept))
      rest.push_back(std::move(kept));
  }
  return rest;
}

/// Equal for traces of one sketch at different extents. Costs as much as printing the trace.
uint64_t structure_key(const Trace& trace) {
  const Trace open = trace.with_open_decisions();
  Trace bare;
  for (size_t i = 0; i < open.size(); ++i) {
    if (open[i].kind->sort() != InstructionSort::Sampling) {
      bare.append(open.shared(i));
      continue;
    }
    auto instruction = std::make_shared<Instruction>(open[i]);
    for (Arg& arg : instruction->args) arg = without_numbers(arg);
    bare.append(std::move(instruction));
  }
  return bare.hash();
}

/// `sketch` with the decisions of `recorded`, which has the same structure.
Trace carried_over(const Trace& sketch, const Trace& recorded) {
  Trace trace = sketch.with_open_decisions();
  for (const size_t position : sketch.sampling()) {
    const Instruction& from = recorded[position];
    if (!from.decision) continue;
    const auto& kind = static_cast<const SamplingKind&>(*from.kind);
    trace = trace.with_decision(position, kind.carry_over(*from.decision, from.args, sketch[position].args));
  }
  return trace;
}

struct SimilarTask {
  TaskKey key;
  double distance = 0.0;
};

std::optional<Workload> workload_of(const TaskKey& key, const Workload& like, const RecordStore& store) {
  const std::optional<RecordedWorkload> recorded = store.workload(key.workload_hash);
  if (!recorded || recorded->definition != like.definition) return std::nullopt;
  try {
    return instantiate(*recorded);
  } catch (const UserError&) {
    return std::nullopt;  // this version does not accept the text
  }
}

/// The nearest first.
std::vector<SimilarTask> similar_tasks(const Workload& workload, const RecordStore& store,
                                       const SeedQuery& query) {
  RecordFilter filter;
  filter.target = query.task.target;
  filter.machine = query.machine;
  std::vector<SimilarTask> tasks;
  for (TaskKey& key : store.tasks(filter)) {
    TaskKey other = key;
    other.workload_hash = query.task.workload_hash;
    if (key == query.task || other != query.task) continue;
    const std::optional<Workload> theirs = workload_of(key, workload, store);
    if (!theirs || similarity_group(*theirs) != similarity_group(workload)) continue;
    tasks.push_back({std::move(key), shape_distance(*theirs, workload)});
  }
  std::ranges::stable_sort(tasks, {}, &SimilarTask::distance);
  if (tasks.size() > query.max_tasks) tasks.resize(query.max_tasks);
  return tasks;
}

struct Fast {
  double seconds = 0.0;
  uint64_t lowered_hash = 0;
  std::string trace;
};

/// The fastest first, each program once.
std::vector<Fast> fastest_of(const TaskKey& task, const RecordStore& store, const SeedQuery& query) {
  RecordFilter filter;
  filter.task = task;
  filter.machine = query.machine;
  filter.kind = MeasurementKind::Search;
  filter.ok = true;
  std::vector<Fast> fastest;
  store.for_each(filter, [&](const Record& record) {
    if (record.time_ms > query.until_ms) return;
    const auto same = std::ranges::find(fastest, record.lowered_hash, &Fast::lowered_hash);
    if (same != fastest.end()) {
      if (same->seconds <= record.seconds) return;
      fastest.erase(same);
    }
    const auto place = std::ranges::upper_bound(fastest, record.seconds, {}, &Fast::seconds);
    fastest.insert(place, {record.seconds, record.lowered_hash, record.trace});
    if (fastest.size() > query.max_programs) fastest.pop_back();
  });
  return fastest;
}

/// The seeds of one task, the fastest first.
std::vector<Trace> seeds_of(const TaskKey& task, const std::unordered_map<uint64_t, const Trace*>& sketches,
                            const RecordStore& store, const SeedQuery& query) {
  std::vector<Trace> seeds;
  for (const Fast& one : fastest_of(task, store, query)) {
    try {
      const Trace recorded = Trace::parse(one.trace);
      const auto sketch = sketches.find(structure_key(recorded));
      if (sketch != sketches.end()) seeds.push_back(carried_over(*sketch->second, recorded));
    } catch (const UserError&) {  // NOLINT(bugprone-empty-catch): of another version, and no seed
    }
  }
  return seeds;
}

}  // namespace

Seeds find_seeds(const Workload& workload, std::span<const Schedule> sketches, const RecordStore& store,
                 const SeedQuery& query) {
  const std::vector<SimilarTask> tasks = similar_tasks(workload, store, query);
  if (tasks.empty()) return {};
  std::unordered_map<uint64_t, const Trace*> by_structure;  // looked up in, never walked
  for (const Schedule& sketch : sketches)
    by_structure.emplace(structure_key(sketch.trace()), &sketch.trace());
  std::vector<std::vector<Trace>> of_tasks;
  size_t longest = 0;
  for (const SimilarTask& task : tasks) {
    of_tasks.push_back(seeds_of(task.key, by_structure, store, query));
    longest = std::max(longest, of_tasks.back().size());
  }
  Seeds seeds;
  std::unordered_set<uint64_t> seen;
  std::vector<bool> gave(of_tasks.size(), false);
  for (size_t rank = 0; rank < longest; ++rank) {
    for (size_t task = 0; task < of_tasks.size(); ++task) {
      if (rank >= of_tasks[task].size() || seeds.traces.size() == query.max_seeds) continue;
      Trace& seed = of_tasks[task][rank];
      if (!seen.insert(seed.hash()).second) continue;
      seeds.traces.push_back(std::move(seed));
      gave[task] = true;
    }
  }
  seeds.counts = {static_cast<int64_t>(seeds.traces.size()), std::ranges::count(gave, true)};
  return seeds;
}

}  // namespace tunesmith
