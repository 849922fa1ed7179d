#include <algorithm>
#include <ctime>
#include <fstream>
#include <iostream>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tunesmith/support/hash.h>

#include "commands.h"
#include "exit_codes.h"
#include "output.h"
#include "output_file.h"
#include "progress/progress.h"
#include "record_selection.h"
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

/// On this machine.
std::vector<Record> best_of_each_task(const RecordsArguments& arguments, const RecordStore& store) {
  const uint64_t machine = detect_environment({}).machine();
  std::vector<Record> records;
  for (const TaskKey& task : tasks_of(arguments.workload, store))
    std::ranges::move(store.best({task, machine, {}}, static_cast<size_t>(arguments.count)),
                      std::back_inserter(records));
  return records;
}

std::string outcome(const Record& record) {
  if (record.ok()) return seconds_text(record.seconds) + (record.modelled() ? " modelled" : "");
  return fmt::format("{} {}", failure_cause_name(record.failure->cause), record.failure->message);
}

std::string threads_text(const TaskKey& task) {
  if (task.threads == 0) return "unattributed";
  return fmt::format("{} {}{}", task.threads, task.threads == 1 ? "thread" : "threads",
                     task.device.empty() ? "" : " on " + task.device);
}

template <class Value>
nlohmann::json or_null(bool known, const Value& value) {
  return known ? nlohmann::json(value) : nlohmann::json(nullptr);
}

nlohmann::json to_json(const Record& record) {
  nlohmann::json one{{"id", record.id},
                     {"workload", record.workload},
                     {"target", record.target},
                     {"threads", or_null(record.threads > 0, record.threads)},
                     {"device", record.device},
                     {"space", record.space},
                     {"run", or_null(!record.run.empty(), record.run)},
                     {"program", or_null(record.attributed(), hex64(record.lowered_hash.value_or(0)))},
                     {"attributed", record.attributed()},
                     {"kind", measurement_kind_name(record.kind)},
                     {"round", or_null(record.round > 0, record.round)},
                     {"score", or_null(record.score.has_value(), record.score.value_or(0.0))},
                     {"ok", record.ok()},
                     {"time_ms", record.time_ms}};
  if (record.timing) one["seconds"] = record.seconds;
  one["modelled"] = record.modelled();
  if (!record.verified_on.empty()) one["verified_on"] = record.verified_on;
  one["verifier"] = or_null(record.verifier.has_value(), record.verifier.value_or(0));
  if (record.failure) one["cause"] = failure_cause_name(record.failure->cause);
  return one;
}

void print_records(const Common& common, const std::vector<Record>& records) {
  if (common.json) {
    nlohmann::json list = nlohmann::json::array();
    for (const Record& record : records) list.push_back(to_json(record));
    fmt::print(output(), "{}\n", nlohmann::json{{"records", list}}.dump());
    return;
  }
  for (const Record& record : records) {
    fmt::print(output(), "{}  {:<10} {:<7} {:<12} {}  {}\n", record.id, record.space,
               measurement_kind_name(record.kind), threads_text(record.task()), record.workload,
               outcome(record));
  }
  if (std::ranges::any_of(records, [](const Record& record) { return !record.attributed(); })) {
    fmt::print(
        output(),
        "unattributed: from before schema 3, which did not say with how many threads nor as which compiled "
        "program it was measured; neither tune nor build uses it\n");
  }
}

int report_import(const Common& common, const ImportReport& report) {
  if (report.migration) tell(*report.migration);
  for (const std::string& refused : report.refused) fmt::print(stderr, "tunesmith: {}\n", refused);
  if (common.json) {
    fmt::print(
        output(), "{}\n",
        nlohmann::json{{"added", report.added}, {"known", report.known}, {"refused", report.refused}}.dump(
            -1, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    fmt::print(output(), "{} added, {} known, {} refused\n", report.added, report.known,
               report.refused.size());
  }
  return report.refused.empty() ? kDone : kBadInput;
}

/// "2026-11-22 01:45:00 UTC".
std::string date_text(int64_t time_ms) {
  const auto seconds = static_cast<std::time_t>(time_ms / 1000);
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[32];
  const size_t length = std::strftime(text, sizeof text, "%F %T UTC", &utc);
  return {text, length};
}

void show_line(const char* name, const std::string& value) {
  fmt::print(output(), "  {:<14} {}\n", name, value.empty() ? "unknown" : value);
}

void show_measurement(const Record& record) {
  fmt::print(output(), "record {}: {}\n", record.id, outcome(record));
  show_line("kind", std::string(measurement_kind_name(record.kind)));
  show_line("measured", date_text(record.time_ms));
  if (record.timing) {
    show_line("samples", fmt::format("{}, least {}, median {}", record.timing->samples.size(),
                                     seconds_text(record.timing->min), seconds_text(record.timing->median)));
    if (record.timing->prepare > 0)
      show_line("prepare", seconds_text(record.timing->prepare) + " once, not in the times");
  }
  if (record.verified_error)
    show_line("verified", fmt::format("largest error {:.3g} of its tolerance{}", *record.verified_error,
                                      record.verified_on.empty() ? "" : ", as its twin"));
  if (!record.verified_on.empty()) show_line("twin", "of " + record.verified_on);
  show_line("verifier", record.verifier ? fmt::format("version {}", *record.verifier)
                                        : "an earlier one than records tell of");
  if (record.round > 0)
    show_line("round", fmt::format("{}{}", record.round,
                                   record.score ? fmt::format(", score {:.4g} before the model learned it",
                                                              *record.score)
                                                : ""));
  show_line("disturbed", !record.disturbed ? "" : *record.disturbed ? "yes" : "no");
}

void show_task(const Record& record, const std::vector<Record>& measurements) {
  fmt::print(output(), "task\n");
  show_line("workload", record.workload);
  show_line("target", record.target);
  show_line("threads", record.threads > 0 ? threads_text(record.task()) : "");
  fmt::print(output(), "program\n");
  show_line("lowered hash", record.attributed() ? hex64(*record.lowered_hash) : "");
  for (const Record& other : measurements) {
    show_line("measured as", fmt::format("{}  {}  {}  {}", other.id, measurement_kind_name(other.kind),
                                         date_text(other.time_ms), outcome(other)));
  }
}

void show_run(const Record& record, const std::optional<RecordedRun>& run) {
  fmt::print(output(), "run\n");
  show_line("id", record.run);
  show_line("space", fmt::format("{} (rules {})", record.space, hex64(record.rules_hash)));
  show_line("seed", fmt::format("{}, candidate {}", record.seed, record.candidate));
  if (!run) return;
  show_line("command", run->command);
  show_line("searcher", run->searcher);
  show_line("cost model", run->cost_model);
  show_line("options", run->options);
  show_line("code generator", run->code_generator);
  show_line("began", date_text(run->began_ms));
  show_line("ended", run->ended_ms == 0
                         ? "no: still running, or killed"
                         : fmt::format("{}: {}", date_text(run->ended_ms), run->ended_because));
}

/// A program that was not in the ranking stands behind those that were, with a lower time at times.
void explain_order(const std::vector<Record>& records) {
  const auto looks_faster = [](const Record& one, const Record& other) {
    return one.task() == other.task() && one.kind == MeasurementKind::Ranking &&
           other.kind == MeasurementKind::Search && other.seconds < one.seconds;
  };
  const auto found = std::ranges::adjacent_find(records, looks_faster);
  if (found == records.end()) return;
  fmt::print(output(),
             "ranking: timed in turn with the best of its run; search: the smallest of a few samples, which "
             "flatters. "
             "What the ranking left out stands behind it\n");
}

}  // namespace

int run_records_best(const Common& common, const RecordsArguments& arguments) {
  const RecordStore store = open(arguments);
  const std::vector<Record> records = best_of_each_task(arguments, store);
  print_records(common, records);
  if (!common.json) explain_order(records);
  if (records.empty() && !common.json) {
    size_t old = 0;
    for (RecordFilter filter : filters_of(arguments.workload, store)) {
      filter.attributed = false;
      old += store.count(filter);
    }
    fmt::print(
        stderr, "tunesmith: nothing{} was measured on this machine{}\n", of_workload(arguments),
        old == 0 ? ""
                 : fmt::format("; {} unattributed records, from before schema 3, do not say what they are of",
                               old));
  }
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
  print_records(common, records);
  if (!records.empty()) return kDone;
  say_no_match(arguments, store);
  return arguments.workload.empty() ? kDone : kNothingFound;
}

int run_records_show(const Common& common, const RecordsArguments& arguments) {
  const RecordStore store = open(arguments);
  const Record record = find_record(store, arguments.record);
  std::vector<Record> measurements;
  std::optional<RecordedRun> run;
  std::optional<RecordedWorkload> workload;
  if (record.attributed()) {
    measurements = store.list({.task = record.task(), .lowered_hash = record.lowered_hash});
    run = store.run(record.run);
    workload = store.workload(record.workload_hash, record.workload);
  }
  const std::string definition = workload ? workload->definition : "";
  const std::optional<RecordedSpace> space = store.space(record.space, record.rules_hash);
  const std::string rules = space ? space->rules : "";
  const std::optional<Environment> environment = store.environment(record.environment);
  if (common.json) {
    nlohmann::json all{{"record", to_json(record)}, {"trace", record.trace}};
    all["definition"] = or_null(!definition.empty(), definition);
    all["rules"] = or_null(!rules.empty(), rules);
    if (environment) all["environment"] = nlohmann::json::parse(environment->text());
    if (run) {
      all["run"] = {{"id", run->id},
                    {"command", run->command},
                    {"seed", run->seed},
                    {"searcher", run->searcher},
                    {"cost_model", run->cost_model},
                    {"threads", run->threads},
                    {"options", run->options},
                    {"code_generator", run->code_generator},
                    {"began_ms", run->began_ms},
                    {"ended_ms", or_null(run->ended_ms != 0, run->ended_ms)},
                    {"ended_because", or_null(run->ended_ms != 0, run->ended_because)}};
    }
    all["measurements"] = nlohmann::json::array();
    for (const Record& other : measurements) all["measurements"].push_back(to_json(other));
    fmt::print(output(), "{}\n", all.dump());
    return kDone;
  }
  show_measurement(record);
  show_task(record, measurements);
  show_run(record, run);
  if (environment) fmt::print(output(), "environment\n  {}\n", environment->text());
  if (!rules.empty()) fmt::print(output(), "rules\n{}\n", rules);
  if (!definition.empty()) fmt::print(output(), "definition\n{}\n", definition);
  fmt::print(output(), "trace\n{}", record.trace);
  return kDone;
}

int run_records_export(const Common& common, const RecordsArguments& arguments) {
  if (common.json && arguments.file.empty())
    throw UserError("--json is one object on standard output, and that is where the records go",
                    "name a file for them with --output");
  const RecordStore store = open_records(arguments.database, RecordStore::Mode::Rescue);
  const std::vector<RecordFilter> filters = filters_of(arguments.workload, store);
  const std::vector<Record> best =
      arguments.best ? best_of_each_task(arguments, store) : std::vector<Record>();
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
  // A damaged store cannot be counted.
  size_t count = best.size();
  if (!arguments.best && left_out.empty())
    for (const RecordFilter& filter : filters) count += store.count(filter);
  if (count == 0 && left_out.empty()) say_no_match(arguments, store);
  if (common.json) {
    fmt::print(
        output(), "{}\n",
        nlohmann::json{
            {"file", arguments.file}, {"records", or_null(left_out.empty(), count)}, {"left_out", left_out}}
            .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }
  return left_out.empty() ? kDone : kEnvironmentFault;
}

int run_records_import(const Common& common, const RecordsArguments& arguments) {
  RecordStore store = open_records(arguments.database);
  if (arguments.file.empty()) return report_import(common, store.import_jsonl(std::cin, "stdin"));
  std::ifstream in(arguments.file);
  if (!in) throw UserError(SourceLocation{arguments.file, 0, 0}, "cannot be read");
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
    fmt::print(output(), "{}\n",
               nlohmann::json{{"records", report.records},
                              {"unattributed", report.unattributed},
                              {"faults", report.faults},
                              {"clean", report.clean()}}
                   .dump());
  } else {
    fmt::print(output(), "{} records{}, {} environments: {}\n", report.records,
               report.unattributed > 0 ? fmt::format(" ({} unattributed)", report.unattributed) : "",
               report.environments,
               report.clean() ? "clean" : fmt::format("{} faults", report.faults.size()));
  }
  return report.clean() ? kDone : kEnvironmentFault;
}

}  // namespace tunesmith::cli
