#include <algorithm>
#include <fstream>
#include <iostream>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tunesmith/support/files.h>
#include <tunesmith/tuning/intervals.h>

#include "commands.h"
#include "common/exit_codes.h"
#include "common/print_json.h"
#include "output.h"
#include "record_text.h"
#include "selection.h"
#include "traces.h"

namespace tunesmith::cli {
namespace {

RecordStore open(const RecordsArguments& arguments) {
  return open_records(arguments.database, RecordStore::Mode::Read);
}

std::string of_workload(const RecordsArguments& arguments) {
  return arguments.workload.empty() ? "" : fmt::format(" of {}", arguments.workload);
}

void say_no_match(const RecordsArguments& arguments, const RecordStore& store) {
  fmt::print(stderr, "tunesmith: no record{} in {}\n", of_workload(arguments), store.path().string());
}

/// One of several programs that a library has for a task, each for an interval of values.
struct BuiltInterval {
  std::string workload;
  std::string interval;
  std::string record;
};

/// The programs that a library built from these records of a task would have.
std::vector<BuiltInterval> built_intervals(const RecordStore& store, const std::vector<Record>& best) {
  if (best.empty() || best.front().timing->at.empty()) return {};
  const auto recorded = store.workload(best.front().workload_hash, best.front().workload);
  const auto workload = recorded ? sound_workload(*recorded) : tl::make_unexpected(std::string());
  if (!workload) return {};  // `records check` reports why
  const RecordsOfIntervals chosen = records_of_intervals(workload->program, best);
  if (chosen.each.size() < 2) return {};
  std::vector<BuiltInterval> built;
  for (const RecordOfInterval& one : chosen.each)
    built.push_back({workload->key,
                     interval_text(workload->program, chosen.parameter, one.lowest, one.highest),
                     one.record->id});
  return built;
}

struct BestOfTasks {
  std::vector<Record> records;
  std::vector<BuiltInterval> intervals;
  std::vector<std::string> never_compared;  // workloads whose records no ranking has compared
};

/// The best records of each task on this machine, or by workers of its identity.
BestOfTasks best_of_each_task(const RecordsArguments& arguments, const RecordStore& store) {
  constexpr size_t kLookedAt = 64;
  const auto wanted = static_cast<size_t>(arguments.count);
  BestOfTasks best;
  ShownWorkloads shown(store);
  for (const TaskKey& task : tasks_of(arguments.workload, store)) {
    const BestQuery query{task, machine_of({}, store, task), {}};
    std::vector<Record> records = store.best(query, std::max(wanted, kLookedAt));
    std::ranges::move(built_intervals(store, records), std::back_inserter(best.intervals));
    if (store.never_compared(query)) best.never_compared.push_back(shown.text(records.front()));
    if (records.size() > wanted)
      records.erase(records.begin() + static_cast<std::ptrdiff_t>(wanted), records.end());
    std::ranges::move(records, std::back_inserter(best.records));
  }
  return best;
}

/// The best records of each task, and those that its library's intervals are built with.
std::vector<Record> exported_best(const RecordsArguments& arguments, const RecordStore& store) {
  BestOfTasks best = best_of_each_task(arguments, store);
  for (const BuiltInterval& built : best.intervals) {
    if (std::ranges::find(best.records, built.record, &Record::id) == best.records.end())
      best.records.push_back(store.find(built.record).value());
  }
  return std::move(best.records);
}

nlohmann::json list_of(const RecordStore& store, const std::vector<Record>& records) {
  ShownWorkloads shown(store);
  nlohmann::json list = nlohmann::json::array();
  for (const Record& record : records) list.push_back(to_json(record, store, shown));
  return list;
}

void print_records(const RecordStore& store, const std::vector<Record>& records) {
  ShownWorkloads shown(store);
  for (const Record& record : records) {
    fmt::print(output(), "{}  {:<10} {:<7} {:<12} {}  {}\n", record.id, record.space,
               measurement_kind_name(record.kind), threads_text(record.task()), shown.text(record),
               outcome(record));
  }
}

int report_import(const Common& common, const ImportReport& report) {
  if (report.migration) tell(*report.migration);
  for (const std::string& refused : report.refused) fmt::print(stderr, "tunesmith: {}\n", refused);
  if (common.json) {
    print_json({{"added", report.added}, {"known", report.known}, {"refused", report.refused}});
  } else {
    fmt::print(output(), "{} added, {} known, {} refused\n", report.added, report.known,
               report.refused.size());
  }
  return report.refused.empty() ? kDone : kBadInput;
}

/// Explains why an unranked program may come after ranked ones in spite of a lower time.
void explain_order(const std::vector<Record>& records) {
  const auto looks_faster = [](const Record& one, const Record& other) {
    return one.task() == other.task() && one.kind == MeasurementKind::Ranking &&
           other.kind == MeasurementKind::Search && other.seconds < one.seconds;
  };
  const auto found = std::ranges::adjacent_find(records, looks_faster);
  if (found == records.end()) return;
  fmt::print(output(),
             "ranking: timed in turn with the best programs of its run; search: the smallest of a few "
             "samples, which is optimistic. Unranked programs follow\n");
}

}  // namespace

int run_records_best(const Common& common, const RecordsArguments& arguments) {
  const RecordStore store = open(arguments);
  const auto [records, intervals, never_compared] = best_of_each_task(arguments, store);
  if (common.json) {
    nlohmann::json built = nlohmann::json::array();
    for (const auto& [workload, interval, record] : intervals)
      built.push_back({{"workload", workload}, {"interval", interval}, {"record", record}});
    print_json({{"records", list_of(store, records)}, {"intervals", built}, {"not_ranked", never_compared}});
    return records.empty() ? kNothingFound : kDone;
  }
  print_records(store, records);
  explain_order(records);
  for (const auto& [workload, interval, record] : intervals)
    fmt::print(output(), "{} is built with {}: record {}\n", workload, interval, record);
  for (const std::string& workload : never_compared)
    fmt::print(output(), "not ranked: {}; 'tunesmith build' times its best in turn\n", workload);
  if (records.empty())
    fmt::print(stderr, "tunesmith: nothing{} was measured on this machine\n", of_workload(arguments));
  return records.empty() ? kNothingFound : kDone;
}

int run_records_list(const Common& common, const RecordsArguments& arguments) {
  const RecordStore store = open(arguments);
  std::vector<Record> records;
  for (const RecordFilter& filter : filters_of(arguments.workload, store))
    std::ranges::move(store.list(filter), std::back_inserter(records));
  std::ranges::stable_sort(records, {}, &Record::time_ms);
  const auto wanted = static_cast<size_t>(arguments.count);
  if (records.size() > wanted)
    records.erase(records.begin(), records.end() - static_cast<std::ptrdiff_t>(wanted));
  if (common.json)
    print_json({{"records", list_of(store, records)}});
  else
    print_records(store, records);
  if (!records.empty()) return kDone;
  say_no_match(arguments, store);
  return arguments.workload.empty() ? kDone : kNothingFound;
}

int run_records_export(const Common& common, const RecordsArguments& arguments) {
  if (common.json && arguments.file.empty())
    throw UserError("--json and the records would both go to standard output",
                    "give a file for them with --output");
  const RecordStore store = open_records(arguments.database, RecordStore::Mode::Rescue);
  const std::vector<RecordFilter> filters = filters_of(arguments.workload, store);
  const std::vector<Record> best = arguments.best ? exported_best(arguments, store) : std::vector<Record>();
  std::optional<OutputFile> file;
  if (!arguments.file.empty()) file.emplace(arguments.file, std::vector{store.path()});
  std::ostream& out = file ? file->stream() : std::cout;
  std::vector<std::string> left_out;
  if (arguments.best) {
    left_out = store.export_jsonl(out, best);
  } else {
    for (const RecordFilter& filter : filters)
      std::ranges::move(store.export_jsonl(out, filter), std::back_inserter(left_out));
  }
  if (file) file->commit();
  for (const std::string& fault : left_out) fmt::print(stderr, "tunesmith: {}\n", fault);
  // Counting would throw if the store is damaged.
  size_t count = best.size();
  if (!arguments.best && left_out.empty())
    for (const RecordFilter& filter : filters) count += store.count(filter);
  if (count == 0 && left_out.empty()) say_no_match(arguments, store);
  if (common.json) {
    const nlohmann::json counted = left_out.empty() ? nlohmann::json(count) : nlohmann::json(nullptr);
    print_json({{"file", arguments.file}, {"records", counted}, {"left_out", left_out}});
  }
  return left_out.empty() ? kDone : kEnvironmentFault;
}

int run_records_import(const Common& common, const RecordsArguments& arguments) {
  std::ifstream in;
  if (!arguments.file.empty()) in = open_lines(arguments.file);
  RecordStore store = open_records(arguments.database);
  if (arguments.file.empty()) return report_import(common, store.import_jsonl(std::cin, "stdin"));
  return report_import(common, store.import_jsonl(in, arguments.file));
}

int run_records_merge(const Common& common, const RecordsArguments& arguments) {
  RecordStore store = open_records(arguments.database);
  return report_import(common, store.merge(arguments.file));
}

int run_records_check(const Common& common, const RecordsArguments& arguments) {
  const RecordStore store = open(arguments);
  std::set<std::pair<uint64_t, std::string>> workloads;
  CheckReport report = store.check([&](const Record& record) -> std::string {
    workloads.emplace(record.workload_hash, record.workload);
    try {
      Trace::parse(record.trace, "record " + record.id);
      return "";
    } catch (const UserError& error) {
      return error.what();
    }
  });
  for (const auto& [hash, text] : workloads) {
    const std::optional<RecordedWorkload> recorded = store.workload(hash, text);
    if (!recorded || recorded->definition.empty()) continue;
    if (const auto workload = sound_workload(*recorded); !workload)
      report.faults.push_back(fmt::format("workload '{}': {}", text, workload.error()));
  }
  for (const std::string& fault : report.faults) fmt::print(stderr, "tunesmith: {}\n", fault);
  if (common.json) {
    print_json({{"records", report.records}, {"faults", report.faults}, {"clean", report.clean()}});
  } else {
    fmt::print(output(), "{} records, {} environments: {}\n", report.records, report.environments,
               report.clean() ? "clean" : fmt::format("{} faults", report.faults.size()));
  }
  return report.clean() ? kDone : kEnvironmentFault;
}

}  // namespace tunesmith::cli
