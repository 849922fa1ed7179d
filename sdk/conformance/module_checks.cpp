// Checks of transformation modules. They are called through
// the kernel (Space), so the results hold for runs.
#include <algorithm>
#include <thread>

#include <fmt/format.h>

#include "checks.h"
#include "numeric.h"
#include "tunesmith/analysis/verify.h"

namespace tunesmith::conformance {
namespace of_modules {
namespace {

constexpr uint64_t kSeed = 20;
constexpr int kDraws = 4;  // per sketch

bool applied(const SketchSet& set, const std::string& module) {
  return std::ranges::any_of(set.events, [&](const ModuleEvent& event) {
    return event.module == module && event.status == ModuleResult::Status::Applied;
  });
}

/// A module's results for a workload as comparable text.
std::string print(const SketchSet& set) {
  std::string text;
  for (const Schedule& sketch : set.sketches) {
    text += fmt::format("{}program {:016x}\n", sketch.trace().str(), structural_hash(sketch.program()));
  }
  for (const ModuleEvent& event : set.events) {
    text += fmt::format("{} {} {} {} {}\n", event.module, event.block, static_cast<int>(event.status),
                        event.reason, event.forks);
  }
  return text;
}

ModuleStage stage_of(const Subject& subject) { return subject.create<TransformationModule>()->stage(); }

Verdict nothing_applied(const Subject& subject) {
  std::string names;
  for (const Workload& workload : subject.workloads()) names += (names.empty() ? "" : ", ") + workload.name;
  return skipped(fmt::format("it applied to none of {}; name a workload it is for", names));
}

/// The module returns a result for every block of every workload, well formed (the kernel checks it) and with
/// reasons.
Verdict check_contract(const Subject& subject) {
  const Space space(subject.alone(), subject.registry());
  for (const Workload& workload : subject.workloads()) {
    const SketchSet set = space.generate(workload.program);
    for (const ModuleEvent& event : set.events) {
      if (event.status == ModuleResult::Status::Applied) continue;
      if (event.reason.empty() || event.reason.find('\n') != std::string::npos) {
        return failed(fmt::format("it declined block '{}' of {} without a reason of one line", event.block,
                                  workload.name));
      }
    }
  }
  return passed();
}

/// A complete trace, replayed without any module, lowers to the candidate's program.
Verdict check_finishing_trace(const Subject& subject) {
  const Space space(subject.company(), subject.registry());
  bool any = false;
  for (const Workload& workload : subject.workloads()) {
    for (const Schedule& sketch : space.generate(workload.program).sketches) {
      const Trace open = sketch.trace().with_open_decisions();
      const auto made = space.materialise(workload.program, open, RandomStream(kSeed));
      if (!made) continue;
      const Trace recorded = Trace::parse((*made)->trace.str());
      any = any || recorded.finishing() + 1 < recorded.size();
      const auto again = space.materialise(workload.program, recorded, RandomStream(kSeed));
      if (!again)
        return failed(fmt::format("{}: its trace does not replay: {}", workload.name, again.error().message));
      if ((*again)->lowered_hash != (*made)->lowered_hash) {
        return failed(
            fmt::format("{}: replaying its trace gives another program than it answered; change programs "
                        "through the schedule only",
                        workload.name));
      }
    }
  }
  return any ? passed() : nothing_applied(subject);
}

/// The trace contains everything that it does: replaying gives the same program.
Verdict check_trace(const Subject& subject) {
  if (stage_of(subject) == ModuleStage::Finishing) return check_finishing_trace(subject);
  const Space space(subject.alone(), subject.registry());
  bool any = false;
  for (const Workload& workload : subject.workloads()) {
    const SketchSet set = space.generate(workload.program);
    any = any || applied(set, subject.info().id);
    for (const Schedule& sketch : set.sketches) {
      const auto replayed = replay(workload.program, Trace::parse(sketch.trace().str()), RandomStream(0),
                                   nullptr, space.intrinsics());
      if (!replayed)
        return failed(
            fmt::format("{}: its trace does not replay: {}", workload.name, replayed.error().what()));
      if (structural_hash(replayed->program()) != structural_hash(sketch.program())) {
        return failed(
            fmt::format("{}: replaying its trace gives another program than it answered; change programs "
                        "through the schedule only",
                        workload.name));
      }
    }
  }
  return any ? passed() : nothing_applied(subject);
}

/// The first annotation key of the step that is not among `makes`; "" if there is none.
std::string undeclared_key(const Trace& trace, const SketchStep& step,
                           const std::vector<std::string>& makes) {
  for (size_t at = step.begin; at < step.end; ++at) {
    if (trace[at].kind->name() != "annotate") continue;
    const auto& key = std::get<std::string>(trace[at].args.at(1));
    if (std::ranges::find(makes, key) == makes.end()) return key;
  }
  return "";
}

/// Its description lists all annotations that it leaves.
Verdict check_annotations(const Subject& subject) {
  if (stage_of(subject) == ModuleStage::Finishing) return passed();
  const std::vector<std::string> makes = subject.create<TransformationModule>()->description().makes;
  const Space space(subject.company(), subject.registry());
  bool any = false;
  for (const Workload& workload : subject.workloads()) {
    const SketchSet set = space.generate(workload.program);
    for (size_t i = 0; i < set.sketches.size(); ++i) {
      for (const SketchStep& step : set.steps[i]) {
        if (step.module != subject.info().id) continue;
        any = true;
        const std::string key = undeclared_key(set.sketches[i].trace(), step, makes);
        if (key.empty()) continue;
        return failed(fmt::format("{}: it leaves the annotation '{}', which its description() does not name",
                                  workload.name, key));
      }
    }
  }
  return any ? passed() : nothing_applied(subject);
}

/// Another object, another order and a repetition give the same result.
Verdict check_determinism(const Subject& subject) {
  const Space first(subject.alone(), subject.registry());
  const Space second(subject.alone(), subject.registry());
  std::vector<std::string> wanted;
  for (const Workload& workload : subject.workloads())
    wanted.push_back(print(first.generate(workload.program)));
  for (const Space* space : {&second, &first}) {
    for (size_t i = subject.workloads().size(); i-- > 0;) {
      const Workload& workload = subject.workloads()[i];
      if (print(space->generate(workload.program)) != wanted[i]) {
        return failed(fmt::format("{}: asked again, it answered something else", workload.name));
      }
    }
  }
  return passed();
}

/// apply() is thread-safe: four threads on one object give the same as one.
Verdict check_threads(const Subject& subject) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 5;
  const Space space(subject.alone(), subject.registry());
  const size_t count = subject.workloads().size();
  std::vector<std::string> wanted;
  for (const Workload& workload : subject.workloads())
    wanted.push_back(print(space.generate(workload.program)));
  std::vector<std::string> faults(kThreads);
  {
    std::vector<std::jthread> threads;
    for (size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        try {
          for (size_t i = 0; i < count * kRounds; ++i) {
            const Workload& workload = subject.workloads()[(i + t) % count];
            if (print(space.generate(workload.program)) != wanted[(i + t) % count]) {
              faults[t] = fmt::format("{}: with several threads it answered something else", workload.name);
            }
          }
        } catch (const std::exception& error) {
          faults[t] = fmt::format("with several threads: {}", error.what());
        }
      });
    }
  }
  for (const std::string& fault : faults) {
    if (!fault.empty()) return failed(fault);
  }
  return passed();
}

/// Draws the decisions of every sketch of `program` and compares the results with the
/// unscheduled program in the interpreter. "" if all agree. Refused candidates are no fault.
std::string compare_results(const Space& space, const Program& program, const Program& unscheduled,
                            const std::string& workload) {
  const Numeric numeric(unscheduled, kSeed);
  const SketchSet set = space.generate(program);
  for (size_t s = 0; s < set.sketches.size(); ++s) {
    const Trace open = set.sketches[s].trace().with_open_decisions();
    for (uint64_t draw = 0; draw < kDraws; ++draw) {
      const auto candidate = space.materialise(program, open, RandomStream(kSeed, draw));
      if (!candidate) continue;
      std::string fault;
      try {
        fault = numeric.difference((*candidate)->lowered);
      } catch (const InterpreterError& error) {
        fault = error.what();
      }
      if (!fault.empty())
        return fmt::format("{}, sketch {}: {}\n{}", workload, s, fault, (*candidate)->trace.str());
    }
  }
  return {};
}

/// Its results compute the same as the program: alone, and with the modules of its space.
Verdict check_legality(const Subject& subject) {
  bool any = false;
  const Space alone(subject.alone(), subject.registry());
  const Space company(subject.company(), subject.registry());
  const bool finishing = stage_of(subject) == ModuleStage::Finishing;
  for (const Workload& workload : subject.workloads()) {
    for (const Space* space : {&alone, &company}) {
      any = any || finishing || applied(space->generate(workload.program), subject.info().id);
      if (const std::string fault =
              compare_results(*space, workload.program, workload.program, workload.name);
          !fault.empty()) {
        return failed(fault);
      }
    }
  }
  return any ? passed() : nothing_applied(subject);
}

/// Blocks that are already scheduled: it declines or stays correct.
Verdict check_scheduled_input(const Subject& subject) {
  if (stage_of(subject) == ModuleStage::Finishing)
    return skipped("a finishing module sees scheduled programs only");
  const Space alone(subject.alone(), subject.registry());
  SpaceSpec others = subject.company();
  std::erase_if(others.modules, [&](const PluginUse& use) { return use.id == subject.info().id; });
  const Space before(others, subject.registry());
  for (const Workload& workload : subject.workloads()) {
    for (const Space* space : {&alone, &before}) {
      const SketchSet set = space->generate(workload.program);
      const Trace open = set.sketches.back().trace().with_open_decisions();
      const auto scheduled =
          replay(workload.program, open, RandomStream(kSeed), nullptr, space->intrinsics());
      if (!scheduled) continue;
      const std::string fault = compare_results(alone, scheduled->program(), workload.program,
                                                workload.name + ", scheduled before");
      if (!fault.empty()) return failed(fault);
    }
  }
  return passed();
}

constexpr Check kChecks[] = {
    {"contract", "P12", &check_contract},
    {"trace", "P23", &check_trace},
    {"annotations", "P23", &check_annotations},
    {"determinism", "P19", &check_determinism},
    {"threads", "P20", &check_threads},
    {"legality", "P23", &check_legality},
    {"scheduled_input", "P23", &check_scheduled_input},
};

}  // namespace
}  // namespace of_modules

std::span<const Check> module_checks() { return of_modules::kChecks; }

}  // namespace tunesmith::conformance
