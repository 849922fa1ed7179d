// `measure`: measures candidates and jobs from other machines on this machine.
#include <fstream>
#include <iostream>
#include <sstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tunesmith/measuring/job_reader.h>
#include <tunesmith/support/files.h>
#include <tunesmith/support/hash.h>
#include <tunesmith/target/separate_device.h>
#include <tunesmith/tuning/job_measurer.h>

#include "commands.h"
#include "common/exit_codes.h"
#include "common/interrupt.h"
#include "common/print_json.h"
#include "memory.h"
#include "output.h"
#include "progress/progress.h"

namespace tunesmith::cli {
namespace {

/// The results of the jobs so far.
struct MeasuredOutcome {
  size_t measured = 0;
  size_t known = 0;
  size_t failed = 0;   // how many of the measured programs failed
  size_t lacking = 0;  // candidates that need something this machine lacks
  size_t refused = 0;  // lines that are not jobs
  std::vector<Record> records;
  nlohmann::json jobs = nlohmann::json::array();

  size_t all() const { return measured + known + lacking + refused; }
};

std::string result_text(const JobResult& result) {
  if (!result.record) return "cannot be measured on this machine: " + result.refusal;
  const Record& record = *result.record;
  const std::string where =
      fmt::format("{}, record {}", result.known ? "as on record" : "measured", record.id);
  if (record.failure)
    return fmt::format("failed, {}: {}: {}", where, failure_cause_name(record.failure->cause),
                       record.failure->message);
  const size_t samples = record.timing->samples.size();
  return fmt::format("{}{}, {} sample{}, {}", seconds_text(record.seconds),
                     record.modelled() ? " modelled" : "", samples, samples == 1 ? "" : "s", where);
}

nlohmann::json json_of(size_t number, const Job& job, const JobResult& result) {
  nlohmann::json one{{"line", number},
                     {"workload", job.candidate.workload.text},
                     {"lowered_hash", hex64(job.candidate.lowered_hash)},
                     {"refusal", result.refusal},
                     {"differences", result.differences},
                     {"known", result.known},
                     {"record", nullptr}};
  if (!result.record) return one;
  const Record& record = *result.record;
  one["record"] = record.id;
  one["threads"] = record.threads;
  one["modelled"] = record.modelled();
  if (record.timing) one.update({{"seconds", record.seconds}, {"samples", record.timing->samples.size()}});
  if (record.failure)
    one.update({{"cause", failure_cause_name(record.failure->cause)}, {"message", record.failure->message}});
  return one;
}

void count(MeasuredOutcome& outcome, size_t number, const Job& job, const JobResult& result) {
  outcome.jobs.push_back(json_of(number, job, result));
  if (!result.record) {
    ++outcome.lacking;
    return;
  }
  ++(result.known ? outcome.known : outcome.measured);
  if (result.record->failure) ++outcome.failed;
  outcome.records.push_back(*result.record);
}

int exit_code(const MeasuredOutcome& outcome, bool stopped) {
  if (stopped) return kInterrupted;
  if (outcome.refused > 0) return kBadInput;
  if (outcome.lacking > 0) return kEnvironmentFault;
  return outcome.failed > 0 ? kNothingFound : kDone;
}

void print_lines(const RecordStore& store, const std::vector<Record>& records) {
  std::ostringstream lines;
  for (const std::string& fault : store.export_jsonl(lines, records))
    fmt::print(stderr, "tunesmith: {}\n", fault);
  fmt::print(output(), "{}", lines.str());
}

}  // namespace

int run_measure(const Common& common, const MeasureArguments& arguments) {
  if (common.json && arguments.lines)
    throw UserError("--json and the records would both go to standard output", "choose --json or --lines");
  const std::atomic<bool>& stop =
      stop_on_interrupt("tunesmith: interrupted; everything measured so far is recorded\n");
  std::ifstream file;
  if (!arguments.file.empty()) file = open_lines(arguments.file);
  const std::string name = arguments.file.empty() ? "stdin" : arguments.file;
  Session session(common);
  const std::unique_ptr<Space> space = session.space();
  RecordStore store = open_records(arguments.database);
  JobMeasurer measurer(*space, session.worker_target(), store,
                       {arguments.threads, arguments.fresh, common.command_line, machine_lock(), &stop,
                        [&](const Workload& workload) { require_memory(workload, arguments.allow_memory); }});

  std::FILE* const said = arguments.lines ? stderr : output();
  MeasuredOutcome outcome;
  JobReader reader(arguments.file.empty() ? std::cin : file);
  while (!stop && reader.next()) {
    const SourceLocation place{name, static_cast<int>(reader.number()), 0};
    if (!reader.job()) {
      ++outcome.refused;
      fmt::print(stderr, "tunesmith: {}: {}\n", place.str(), reader.job().error());
      continue;
    }
    const JobResult result = measurer.measure(*reader.job());
    if (stop && !result.record) break;
    count(outcome, reader.number(), *reader.job(), result);
    if (common.json) continue;
    fmt::print(said, "{}: {}: {}\n", place.str(), reader.job()->candidate.workload.text, result_text(result));
    for (const std::string& difference : result.differences) fmt::print(said, "    {}\n", difference);
    std::fflush(said);
  }
  measurer.end(stop ? "interrupted" : "jobs");
  if (outcome.all() == 0 && !stop) throw UserError(SourceLocation{name}, "no jobs found");
  if (arguments.lines) print_lines(store, outcome.records);
  if (common.json) {
    print_json({{"jobs", outcome.jobs},
                {"measured", outcome.measured},
                {"known", outcome.known},
                {"failed", outcome.failed},
                {"lacking", outcome.lacking},
                {"refused", outcome.refused},
                {"modelled", models_times(space->target())},
                {"interrupted", stop.load()}});
  } else {
    fmt::print(
        said,
        "jobs: {}; {} measured, {} as on record, {} cannot be measured here; invalid lines: {}; {} failed\n",
        outcome.all(), outcome.measured, outcome.known, outcome.lacking, outcome.refused, outcome.failed);
  }
  return exit_code(outcome, stop);
}

}  // namespace tunesmith::cli
