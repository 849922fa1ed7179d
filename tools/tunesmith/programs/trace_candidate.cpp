// `trace export` and `trace check`: candidates and jobs as lines, for other processes and machines.
#include <fstream>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tunesmith/measuring/job_reader.h>
#include <tunesmith/support/files.h>
#include <tunesmith/support/hash.h>
#include <tunesmith/tuning/check_candidate.h>

#include "commands.h"
#include "common/exit_codes.h"
#include "common/print_json.h"
#include "output.h"
#include "session.h"
#include "traces.h"

namespace tunesmith::cli {
namespace {

void print(const std::string& place, const RecordedCandidate& recorded, const CandidateCheck& check) {
  fmt::print(output(), "{}: {}: {}\n", place, recorded.workload.text,
             check.same() ? fmt::format("the same program, {}", hex64(recorded.lowered_hash))
                          : "cannot be reproduced on this machine: " + check.refusal);
  for (const std::string& difference : check.differences) fmt::print(output(), "    {}\n", difference);
}

/// Writes a job if measuring options are given, else a candidate.
std::string line_of_export(RecordedCandidate candidate, const TraceArguments& arguments) {
  if (arguments.repeats == 0 && arguments.candidate_time_out == 0) return line_of(candidate);
  Job job{std::move(candidate), {}};
  if (arguments.repeats > 0) job.options.min_repeats = job.options.max_repeats = arguments.repeats;
  if (arguments.candidate_time_out > 0) job.options.time_out_seconds = arguments.candidate_time_out;
  return line_of(job);
}

}  // namespace

int run_trace_export(const Common& common, const TraceArguments& arguments) {
  const NamedTrace loaded = load_trace(arguments.trace, arguments.database);
  const Workload workload = arguments.workload.empty()
                                ? workload_of(loaded)
                                : find_workload(arguments.workload, arguments.database);
  Session session(common);
  if (loaded.record) session.prefer_space(loaded.record->space);
  const auto space = session.space(TargetPresence::NotRequired);
  const CandidatePtr candidate = materialise(*space, workload, loaded);
  const bool changed = loaded.record && loaded.record->lowered_hash != candidate->lowered_hash;
  if (changed) {
    throw UserError(
        fmt::format("the trace of record '{}' now gives another program: expected {}, found {}", loaded.name,
                    hex64(loaded.record->lowered_hash), hex64(candidate->lowered_hash)),
        "choose the space it was measured with, or measure it again");
  }
  const std::string line = line_of_export(
      recorded_candidate(workload, *space, *candidate, loaded.record ? loaded.record->threads : 0),
      arguments);
  if (arguments.output.empty()) {
    fmt::print(output(), "{}\n", line);
    return kDone;
  }
  OutputFile file(arguments.output, {arguments.trace, database_path(arguments.database)});
  file.stream() << line << '\n';
  file.commit();
  return kDone;
}

int run_trace_check(const Common& common, const TraceArguments& arguments) {
  std::ifstream file = open_lines(arguments.trace);
  Session session(common);
  const auto space = session.space(TargetPresence::NotRequired);
  nlohmann::json list = nlohmann::json::array();
  bool all_same = true;
  JobReader reader(file);
  while (reader.next()) {
    const SourceLocation place{arguments.trace, static_cast<int>(reader.number()), 0};
    if (!reader.job()) throw UserError(place, reader.job().error());
    const RecordedCandidate& recorded = reader.job()->candidate;
    const CandidateCheck check = check_candidate(recorded, *space);
    all_same = all_same && check.same();
    if (!common.json) print(place.str(), recorded, check);
    list.push_back({{"line", reader.number()},
                    {"workload", recorded.workload.text},
                    {"lowered_hash", hex64(recorded.lowered_hash)},
                    {"same", check.same()},
                    {"refusal", check.refusal},
                    {"differences", check.differences}});
  }
  if (list.empty()) throw UserError(SourceLocation{arguments.trace}, "no candidates found");
  if (common.json) print_json({{"candidates", list}});
  return all_same ? kDone : kEnvironmentFault;
}

}  // namespace tunesmith::cli
