#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tunesmith/ir/printer.h>
#include <tunesmith/measuring/peak.h>
#include <tunesmith/records/environment.h>
#include <tunesmith/support/files.h>
#include <tunesmith/target/benchmarking.h>
#include <tunesmith/tuning/tuner.h>

#include "commands.h"
#include "common/exit_codes.h"
#include "common/print_json.h"
#include "common/scratch_store.h"
#include "output.h"
#include "records/follow.h"
#include "report/page.h"
#include "report/printed.h"
#include "report/report_data.h"
#include "traces.h"

namespace tunesmith::cli {
namespace {

/// The peak kernels of this target's tasks on this machine, by number of threads and quantity.
std::map<int, std::map<std::string, PeakKernel>> peaks_here(const RecordStore& store, const Space& space,
                                                            uint64_t machine) {
  std::map<int, std::map<std::string, PeakKernel>> peaks;
  for (const TaskKey& task : store.tasks({.target = space.task_target().str(), .machine = machine})) {
    const std::optional<RecordedWorkload> recorded = store.workload(task.workload_hash);
    if (!recorded || !task.device.empty()) continue;
    const auto workload = sound_workload(*recorded);
    if (!workload) continue;  // the page reports the fault at the task
    PeakKernel peak = peak_kernel(space, workload->program, task.threads);
    std::string quantity = operations_roof(computed_type(workload->program), peak.unit);
    peaks[task.threads].emplace(std::move(quantity), std::move(peak));
  }
  return peaks;
}

void measure_roofs(RecordStore& store, Session& session) {
  const std::unique_ptr<Space> space = session.space();
  Target& target = space->target();
  const Environment environment = detect_environment(space->plugin_versions());
  Benchmarking& benchmarking = benchmarking_of(target);
  const auto peaks = peaks_here(store, *space, environment.machine());
  if (peaks.empty()) {
    throw UserError(fmt::format("{} has no task for the current target of space '{}' on this machine",
                                store.path().string(), space->spec().name),
                    "roofs are measured for tasks tuned on this machine: remove --measure-roofs");
  }
  store.add_environment(environment);
  const MachineLock::Turn turn = machine_lock()->wait(MachineLock::Use::Measure);
  for (const auto& [threads, its] : peaks) {
    const auto add = [&, number = threads](const std::string& quantity, const WatchedRate& rate) {
      store.add_roof({make_id(), environment.hash(), space->task_target().str(), number, "", quantity,
                      rate.per_second, now_ms(), rate.disturbed});
    };
    for (const auto& [quantity, peak] : its)
      add(quantity, watched([&] { return measure_peak(target, peak, threads); }));
    add(std::string(kCopyRoof), watched([&] { return benchmarking.measure_copy_bandwidth(threads); }));
  }
}

const std::string& asked_store(const ReportArguments& arguments) {
  return arguments.store.empty() ? arguments.database : arguments.store;
}

void write_page(const std::string& file, const ReportArguments& arguments, const nlohmann::json& data) {
  std::vector<std::filesystem::path> inputs{database_path(asked_store(arguments))};
  for (const auto* read : {&arguments.comparisons, &arguments.networks})
    inputs.insert(inputs.end(), read->begin(), read->end());
  OutputFile out(file, inputs);
  out.stream() << report::page(data);
  out.commit();
}

/// The report's data. A report of other commands' output needs no store.
nlohmann::json data_of(const Common& common, const ReportArguments& arguments) {
  const std::string& asked = asked_store(arguments);
  const report::Query query{arguments.workloads, arguments.tasks, arguments.runs};
  const bool printed = !arguments.comparisons.empty() || !arguments.networks.empty();
  if (printed && asked.empty() && !std::filesystem::exists(database_path(asked))) {
    ScratchStore none;
    nlohmann::json data = report::report_data(*none, query, nullptr);
    data["store"] = nullptr;
    return data;
  }
  RecordStore store =
      open_records(asked, arguments.measure_roofs ? RecordStore::Mode::Existing : RecordStore::Mode::Read);
  Session session(common);
  const auto intrinsics = session.read_extensions();
  if (arguments.measure_roofs) measure_roofs(store, session);
  const std::string path = store.path().string();
  return report::report_data(store, query, [&](const Record& record) {
    const NamedTrace named = load_trace(record.id, path);
    return to_string(replay(workload_of(named), named, intrinsics).program());
  });
}

std::string counted(size_t number, const char* what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

}  // namespace

int run_report(const Common& common, const ReportArguments& arguments) {
  const nlohmann::json comparisons = report::comparisons(arguments.comparisons);
  const nlohmann::json networks = report::networks(arguments.networks);
  const auto all = [&] {
    nlohmann::json data = data_of(common, arguments);
    data["comparisons"] = comparisons;
    data["networks"] = networks;
    return data;
  };
  if (!arguments.follow.empty())
    return follow_report(arguments.follow, database_path(asked_store(arguments)), all, arguments.fleet);
  const nlohmann::json data = all();
  const bool empty =
      data.at("tasks").empty() && data.at("comparisons").empty() && data.at("networks").empty();
  if (empty) {
    fmt::print(stderr, "tunesmith: nothing to report: no measurement of a search in {}\n",
               data.at("store").get<std::string>());
  }
  const std::string file = arguments.output.empty() && !common.json ? "report.html" : arguments.output;
  if (!file.empty()) write_page(file, arguments, data);
  if (common.json) {
    print_json(data);
  } else if (!common.quiet) {
    std::string text = counted(data.at("tasks").size(), "task");
    if (!data.at("comparisons").empty()) text += ", " + counted(data.at("comparisons").size(), "comparison");
    if (!data.at("networks").empty()) text += ", " + counted(data.at("networks").size(), "network");
    fmt::print(output(), "{}: {}{}\n", file, text,
               report::draws_charts() ? "" : "; tables only: this build has no Chart.js");
  }
  return empty ? kNothingFound : kDone;
}

}  // namespace tunesmith::cli
