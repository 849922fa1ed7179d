#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <tunesmith/ir/printer.h>
#include <tunesmith/lower/lower.h>
#include <tunesmith/performance/grid_work.h>
#include <tunesmith/performance/wasteful_access.h>
#include <tunesmith/proposals/sequence.h>

#include "commands.h"
#include "common/exit_codes.h"
#include "common/print_json.h"
#include "output.h"
#include "passes.h"
#include "traces.h"

namespace tunesmith::cli {
namespace {

Workload workload_for(const NamedTrace& loaded, const TraceArguments& arguments) {
  return arguments.workload.empty() ? workload_of(loaded)
                                    : find_workload(arguments.workload, arguments.database);
}

/// The output of `--waste`, one line per access.
std::vector<std::string> waste_of(const LoweredProgram& lowered, const Target& target) {
  const std::optional<LockstepMachine> machine = lockstep_machine(target.execution(), target.device());
  if (!machine) {
    throw UserError("--waste: this space's target has no grid of threads",
                    "remove it, or choose a space whose target has a grid of threads");
  }
  std::vector<std::string> lines;
  for (const WastefulAccess& access : wasteful_accesses(lowered.program, *machine))
    lines.push_back(to_string(access));
  return lines;
}

/// Adds the target's text of a program; the target may still refuse the program.
template <typename Function>
auto unless_refused(const Function& print) {
  try {
    return print();
  } catch (const LowerError& refusal) {
    throw UserError(fmt::format("the target rejects this program: {}", refusal.what()),
                    "--lowered and --passes print its input");
  }
}

/// Shows the parts of `trace show` after lowering.
template <typename Show>
void show_lowered(Session& session, const Common& common, const TraceArguments& arguments,
                  const NamedTrace& loaded, const Workload& workload, const Show& show, nlohmann::json& all) {
  const auto space = session.space(TargetPresence::NotRequired);
  std::string before;
  const auto show_pass = [&](const LoweringStep& step, const LoweringState& state) {
    std::string after = "\n" + text_of(state.lowered);
    const bool changed = after != before;
    if (common.json) {
      all["passes"].push_back({{"name", step.name}, {"changed", changed}, {"program", after}});
    } else {
      fmt::print(output(), "\n# after {}{}\n{}", step.name, changed ? "" : ": no change",
                 changed ? after : "");
    }
    before = std::move(after);
  };
  const CandidatePtr candidate =
      materialise(*space, workload, loaded, arguments.passes ? show_pass : LoweringObserver());
  if (arguments.lowered) show("lowered", text_of(candidate->lowered));
  if (arguments.waste) {
    const std::vector<std::string> lines = waste_of(candidate->lowered, space->target());
    if (common.json) {
      all["waste"] = lines;
    } else {
      show("waste",
           lines.empty() ? "no inefficient memory accesses\n" : fmt::format("{}\n", fmt::join(lines, "\n")));
    }
  }
  if (arguments.code) {
    const std::optional<std::string> source =
        unless_refused([&] { return space->target().source(candidate->lowered, "kernel"); });
    if (!source) {
      throw UserError("--code: this space's target generates machine code, not source",
                      "--assembly prints its instructions");
    }
    show("code", *source);
  }
  if (arguments.assembly)
    show("assembly", unless_refused([&] { return space->target().assembly(candidate->lowered, "kernel"); }));
}

}  // namespace

int run_trace_show(const Common& common, const TraceArguments& arguments) {
  const NamedTrace loaded = load_trace(arguments.trace, arguments.database);
  nlohmann::json all{{"trace", loaded.trace.str()}};
  if (loaded.record) all.update({{"record", loaded.record->id}, {"workload", loaded.record->workload}});
  // Prints incrementally, so that output before an error is visible.
  const auto show = [&](const char* key, const std::string& text) {
    if (common.json) {
      all[key] = text;
    } else {
      fmt::print(output(), "{}{}", key == std::string_view("trace") ? "" : "\n", text);
    }
  };
  show("trace", loaded.trace.str());
  const bool lowers =
      arguments.passes || arguments.lowered || arguments.waste || arguments.code || arguments.assembly;
  if (arguments.program || arguments.sequence || lowers) {
    const Workload workload = workload_for(loaded, arguments);
    Session session(common);
    if (loaded.record) session.prefer_space(loaded.record->space);
    if (arguments.sequence) {
      const auto space = session.space(TargetPresence::NotRequired);
      show("sequence", to_text(make_sequence(workload.program, space->device(),
                                             replay(workload, loaded, space->intrinsics()))));
    }
    const auto intrinsics = session.read_extensions();
    if (arguments.program) show("program", to_string(replay(workload, loaded, intrinsics).program()));
    if (lowers) show_lowered(session, common, arguments, loaded, workload, show, all);
  }
  if (common.json) print_json(all);
  return kDone;
}

int run_trace_replay(const Common& common, const TraceArguments& arguments) {
  const NamedTrace loaded = load_trace(arguments.trace, arguments.database);
  const Workload workload = workload_for(loaded, arguments);
  Session session(common);
  if (loaded.record) session.prefer_space(loaded.record->space);
  const Schedule schedule = replay(workload, loaded, session.read_extensions());
  const std::string changes = schedule.trace() == loaded.trace ? "" : diff(loaded.trace, schedule.trace());
  if (common.json) {
    print_json(
        {{"workload", workload.key}, {"trace", schedule.trace().str()}, {"repaired", !changes.empty()}});
  } else if (changes.empty()) {
    fmt::print(output(), "legal on {}, all decisions unchanged\n", workload.key);
  } else {
    fmt::print(output(), "legal on {}, with drawn or repaired decisions:\n{}", workload.key, changes);
  }
  return kDone;
}

int run_trace_diff(const Common& common, const TraceArguments& arguments) {
  const Trace a = load_trace(arguments.trace, arguments.database).trace;
  const Trace b = load_trace(arguments.other, arguments.database).trace;
  const bool same = a == b;
  if (common.json) {
    print_json({{"equal", same}, {"diff", same ? "" : diff(a, b)}});
  } else {
    fmt::print(output(), "{}", same ? "the traces are identical\n" : diff(a, b));
  }
  return kDone;
}

}  // namespace tunesmith::cli
