#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tunesmith/ir/printer.h>

#include "commands.h"
#include "exit_codes.h"
#include "output.h"
#include "traces.h"

namespace tunesmith::cli {
namespace {

Workload workload_for(const NamedTrace& loaded, const TraceArguments& arguments) {
  return arguments.workload.empty() ? workload_of(loaded) : WorkloadLibrary().load(arguments.workload);
}

/// The preparation first, when there is one.
std::string text_of(const LoweredProgram& lowered) {
  std::string text;
  if (lowered.prepare)
    text = fmt::format("\n# once, for constant inputs\n{}", to_string(lowered.prepare->program));
  return text + fmt::format("\n{}", to_string(lowered.program));
}

}  // namespace

int run_trace_show(const Common& common, const TraceArguments& arguments) {
  const NamedTrace loaded = load_trace(arguments.trace, arguments.database);
  fmt::print(output(), "{}", loaded.trace.str());
  const bool lowers = arguments.passes || arguments.lowered || arguments.assembly;
  if (!arguments.program && !lowers) return kDone;
  const Workload workload = workload_for(loaded, arguments);
  Session session(common);
  session.read_extensions();
  if (arguments.program) {
    fmt::print(output(), "\n{}", to_string(replay(workload, loaded).program()));
  }
  if (!lowers) return kDone;
  const auto space = session.space();
  std::string before;
  const auto show_pass = [&](const LoweringStep& step, const LoweringState& state) {
    std::string after = text_of(state.lowered);
    fmt::print(output(), "\n# after {}{}\n{}", step.name, after == before ? ": no change" : "",
               after == before ? "" : after);
    before = std::move(after);
  };
  const CandidatePtr candidate =
      materialise(*space, workload, loaded, arguments.passes ? show_pass : LoweringObserver());
  if (arguments.lowered) fmt::print(output(), "{}", text_of(candidate->lowered));
  if (arguments.assembly)
    fmt::print(output(), "\n{}", space->target().assembly(candidate->lowered, "kernel"));
  return kDone;
}

int run_trace_replay(const Common& common, const TraceArguments& arguments) {
  const NamedTrace loaded = load_trace(arguments.trace, arguments.database);
  const Workload workload = workload_for(loaded, arguments);
  Session(common).read_extensions();
  const Schedule schedule = replay(workload, loaded);
  const std::string changes = schedule.trace() == loaded.trace ? "" : diff(loaded.trace, schedule.trace());
  if (common.json) {
    fmt::print(
        output(), "{}\n",
        nlohmann::json{
            {"workload", workload.key}, {"trace", schedule.trace().str()}, {"repaired", !changes.empty()}}
            .dump());
  } else if (changes.empty()) {
    fmt::print(output(), "legal on {}, every decision as written\n", workload.key);
  } else {
    fmt::print(output(), "legal on {}, with decisions drawn or repaired:\n{}", workload.key, changes);
  }
  return kDone;
}

int run_trace_diff(const Common& /*common*/, const TraceArguments& arguments) {
  const Trace a = load_trace(arguments.trace, arguments.database).trace;
  const Trace b = load_trace(arguments.other, arguments.database).trace;
  fmt::print(output(), "{}", diff(a, b));
  return kDone;
}

}  // namespace tunesmith::cli
