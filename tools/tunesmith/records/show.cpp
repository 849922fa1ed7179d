// `records show`: prints everything known of one record.
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <tunesmith/support/hash.h>

#include "commands.h"
#include "common/exit_codes.h"
#include "common/print_json.h"
#include "output.h"
#include "progress/progress.h"
#include "record_text.h"
#include "selection.h"
#include "traces.h"

namespace tunesmith::cli {
namespace {

template <class Value>
nlohmann::json or_null(bool known, const Value& value) {
  return known ? nlohmann::json(value) : nlohmann::json(nullptr);
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
    for (const auto& [values, seconds] : record.timing->at)
      show_line("with values", fmt::format("{}: {}", fmt::join(values, ", "), seconds_text(seconds)));
    if (record.timing->prepare > 0)
      show_line("prepare", seconds_text(record.timing->prepare) + " once, not in the times");
  }
  if (record.verified_error)
    show_line("verified", fmt::format("largest error {:.3g} of its tolerance{}", *record.verified_error,
                                      record.verified_on.empty() ? "" : ", as its twin"));
  if (!record.verified_on.empty()) show_line("twin", "of " + record.verified_on);
  show_line("verifier", record.verifier ? fmt::format("version {}", *record.verifier)
                                        : "unknown, older than records store it");
  if (record.round > 0)
    show_line("round",
              fmt::format("{}{}", record.round,
                          record.score ? fmt::format(", predicted score {:.4g}", *record.score) : ""));
  show_line("disturbed", !record.disturbed ? "" : *record.disturbed ? "yes" : "no");
}

void show_task(const Record& record, const RecordStore& store, const std::vector<Record>& measurements) {
  fmt::print(output(), "task\n");
  show_line("id", task_of(record, store));
  show_line("workload", ShownWorkloads(store).text(record));
  show_line("target", record.target);
  show_line("threads", threads_text(record.task()));
  fmt::print(output(), "program\n");
  show_line("lowered hash", hex64(record.lowered_hash));
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

}  // namespace

int run_records_show(const Common& common, const RecordsArguments& arguments) {
  const RecordStore store = open_records(arguments.database, RecordStore::Mode::Read);
  const Record record = find_record(store, arguments.record);
  const std::vector<Record> measurements =
      store.list({.task = record.task(), .lowered_hash = record.lowered_hash});
  const std::optional<RecordedRun> run = store.run(record.run);
  const std::optional<RecordedWorkload> workload = store.workload(record.workload_hash, record.workload);
  const std::string definition = workload ? workload->definition : "";
  const std::optional<RecordedSpace> space = store.space(record.space, record.rules_hash);
  const std::string rules = space ? space->rules : "";
  const std::optional<Environment> environment = store.environment(record.environment);
  if (common.json) {
    ShownWorkloads shown(store);
    nlohmann::json all{{"record", to_json(record, store, shown)}, {"trace", record.trace}};
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
    for (const Record& other : measurements) all["measurements"].push_back(to_json(other, store, shown));
    print_json(all);
    return kDone;
  }
  show_measurement(record);
  show_task(record, store, measurements);
  show_run(record, run);
  if (environment) fmt::print(output(), "environment\n  {}\n", environment->text());
  if (!rules.empty()) fmt::print(output(), "rules\n{}\n", rules);
  if (!definition.empty()) fmt::print(output(), "definition\n{}\n", definition);
  fmt::print(output(), "trace\n{}", record.trace);
  return kDone;
}

}  // namespace tunesmith::cli
