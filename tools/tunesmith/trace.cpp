#include <filesystem>
#include <fstream>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tunesmith/ir/printer.h>

#include "commands.h"
#include "exit_codes.h"

namespace tunesmith::cli {
namespace {

struct Loaded {
  Trace trace;
  std::string workload;  // of a record; empty for a file
};

Loaded load_trace(const std::string& name, const TraceArguments& arguments) {
  if (std::filesystem::exists(name)) {
    std::ifstream file(name);
    return {Trace::parse(std::string(std::istreambuf_iterator<char>(file), {}), name), ""};
  }
  const RecordStore store(database_path(arguments.database), RecordStore::Mode::Existing);
  const std::optional<Record> record = store.find(name);
  if (!record)
    throw UserError(fmt::format("no file and no record '{}'", name),
                    "tunesmith records list shows the records");
  return {Trace::parse(record->trace, "record " + name), record->workload};
}

Workload workload_of(const Loaded& loaded, const TraceArguments& arguments) {
  const std::string text = arguments.workload.empty() ? loaded.workload : arguments.workload;
  if (text.empty())
    throw UserError("a trace in a file does not say what it is a trace of",
                    "name the workload with --workload");
  return WorkloadLibrary().load(text);
}

}  // namespace

int run_trace_show(const Common& common, const TraceArguments& arguments) {
  const Loaded loaded = load_trace(arguments.trace, arguments);
  fmt::print("{}", loaded.trace.str());
  if (!arguments.program && !arguments.lowered && !arguments.assembly) return kDone;
  const Workload workload = workload_of(loaded, arguments);
  if (arguments.program) {
    auto schedule = replay(workload.program, loaded.trace);
    if (!schedule) throw UserError(schedule.error().what());
    fmt::print("\n{}", to_string(schedule->program()));
  }
  if (!arguments.lowered && !arguments.assembly) return kDone;
  Session session(common);
  const auto space = session.space();
  const auto candidate = space->materialise(workload.program, loaded.trace, RandomStream(0));
  if (!candidate)
    throw UserError(fmt::format("the trace does not fit {}: {}", workload.key, candidate.error().message));
  if (arguments.lowered) fmt::print("\n{}", to_string((*candidate)->lowered.program));
  if (arguments.assembly) fmt::print("\n{}", space->target().assembly((*candidate)->lowered, "kernel"));
  return kDone;
}

int run_trace_replay(const Common& common, const TraceArguments& arguments) {
  const Loaded loaded = load_trace(arguments.trace, arguments);
  const Workload workload = workload_of(loaded, arguments);
  const auto schedule = replay(workload.program, loaded.trace);
  if (!schedule) throw UserError(schedule.error().what());
  const std::string changes = schedule->trace() == loaded.trace ? "" : diff(loaded.trace, schedule->trace());
  if (common.json) {
    fmt::print("{}\n", nlohmann::json{{"workload", workload.key},
                                      {"trace", schedule->trace().str()},
                                      {"repaired", !changes.empty()}}
                           .dump());
  } else if (changes.empty()) {
    fmt::print("legal on {}, every decision as written\n", workload.key);
  } else {
    fmt::print("legal on {}, with decisions drawn or repaired:\n{}", workload.key, changes);
  }
  return kDone;
}

int run_trace_diff(const Common& /*common*/, const TraceArguments& arguments) {
  const Trace a = load_trace(arguments.trace, arguments).trace;
  const Trace b = load_trace(arguments.other, arguments).trace;
  fmt::print("{}", diff(a, b));
  return kDone;
}

}  // namespace tunesmith::cli
