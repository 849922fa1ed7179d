// `records delete`: deletes records.
#include <algorithm>
#include <iostream>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "commands.h"
#include "common/exit_codes.h"
#include "common/print_json.h"
#include "output.h"
#include "report/task_records.h"
#include "selection.h"
#include "traces.h"

namespace tunesmith::cli {
namespace {

/// Throws UserError with the nearest id if `id` is unknown.
void require_known(const std::string& id, const char* what, const std::set<std::string>& known,
                   const RecordStore& store) {
  if (!known.contains(id))
    throw UserError(fmt::format("no {} '{}' in {}", what, id, store.path().string()),
                    suggest(id, {known.begin(), known.end()}));
}

/// Applies --run and --task to each workload's filter.
void narrow(std::vector<RecordFilter>& filters, const RecordsArguments& arguments, const RecordStore& store) {
  std::set<std::string> runs;
  std::map<std::string, RecordFilter> tasks;
  std::set<std::string> ids;
  std::map<uint64_t, uint64_t> machines;
  for (const Environment& environment : store.environments())
    machines[environment.hash()] = environment.machine();
  store.for_each({}, [&](const Record& record) {
    runs.insert(record.run);
    const auto machine = machines.find(record.environment);
    if (machine == machines.end()) return;
    const std::string id = report::task_id(record.task(), machine->second);
    if (ids.insert(id).second) tasks[id] = {.task = record.task(), .machine = machine->second};
  });
  if (!arguments.run.empty()) {
    require_known(arguments.run, "run", runs, store);
    for (RecordFilter& filter : filters) filter.run = arguments.run;
  }
  if (arguments.task.empty()) return;
  require_known(arguments.task, "task", ids, store);
  for (RecordFilter& filter : filters) {
    filter.task = tasks[arguments.task].task;
    filter.machine = tasks[arguments.task].machine;
  }
}

/// Asks on the terminal; throws UserError if there is none.
bool agreed(const std::string& question) {
  if (isatty(STDIN_FILENO) != 1)
    throw UserError(fmt::format("no terminal to ask for confirmation: {}", question),
                    "use --yes to delete without confirmation");
  fmt::print(stderr, "{} [y/N] ", question);
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "yes";
}

std::string bytes_text(int64_t bytes) {
  constexpr double kKilo = 1000.0;
  const auto value = static_cast<double>(std::max<int64_t>(bytes, 0));
  if (value < kKilo * kKilo) return fmt::format("{:.0f} kB", value / kKilo);
  return fmt::format("{:.1f} MB", value / kKilo / kKilo);
}

}  // namespace

int run_records_delete(const Common& common, const RecordsArguments& arguments) {
  if (arguments.workload.empty() && arguments.task.empty() && arguments.run.empty())
    throw UserError("which records?", "select records with --workload, --task or --run");
  RecordStore store = open_records(arguments.database, RecordStore::Mode::Existing);
  std::vector<RecordFilter> filters = filters_of(arguments.workload, store);
  narrow(filters, arguments, store);
  size_t count = 0;
  std::set<uint64_t> workloads;
  for (const RecordFilter& filter : filters) {
    count += store.count(filter);
    for (const TaskKey& task : store.tasks(filter)) workloads.insert(task.workload_hash);
  }
  if (count == 0) {
    fmt::print(stderr, "tunesmith: no such record in {}\n", store.path().string());
    return kNothingFound;
  }
  const std::string question =
      fmt::format("delete {} {} of {} {} in {}?", count, count == 1 ? "record" : "records", workloads.size(),
                  workloads.size() == 1 ? "workload" : "workloads", store.path().string());
  if (!arguments.yes && !agreed(question)) {
    fmt::print(stderr, "tunesmith: nothing deleted\n");
    return kDone;
  }
  RemovalReport removed;
  for (const RecordFilter& filter : filters) {
    const RemovalReport one = store.remove(filter);
    removed.records += one.records;
    removed.programs += one.programs;
    removed.freed_bytes += one.freed_bytes;
  }
  if (common.json) {
    print_json(
        {{"records", removed.records}, {"programs", removed.programs}, {"freed_bytes", removed.freed_bytes}});
  } else {
    fmt::print(output(), "{} records and {} programs deleted; {} freed\n", removed.records, removed.programs,
               bytes_text(removed.freed_bytes));
  }
  return kDone;
}

}  // namespace tunesmith::cli
