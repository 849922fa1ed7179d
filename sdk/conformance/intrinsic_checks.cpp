#include "intrinsic_checks.h"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "at_work.h"
#include "corners.h"
#include "group_calls.h"
#include "numeric.h"
#include "run_kernel.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/trace/schedule.h"
#include "tunesmith/trace/single_call.h"
#include "tunesmith/tuning/called_places.h"

namespace tunesmith::conformance {
namespace {

constexpr uint64_t kSeed = 50;
/// With this many elements, each end of a type's range occurs.
constexpr int64_t kElements = 1024;
constexpr int64_t kMaxSeeds = 64;

/// A row stride as in arrays of real layers: the implementation's field for the stride must hold more than
/// the small shape of one call needs.
constexpr int64_t kWideStride = 10'007;

/// The number of draws, since an intrinsic may have a few elements only.
uint64_t seeds_of(const Program& program) {
  int64_t elements = 1;
  for (const Buffer& input : program.inputs) elements = std::max(elements, input->elements());
  return static_cast<uint64_t>(std::clamp(kElements / elements, int64_t{1}, kMaxSeeds));
}

std::set<std::string> calls_in(const Program& program) {
  std::set<std::string> names;
  for (const Loop* loop : collect<Loop>(program.root())) {
    const auto call = loop->annotations.find(kTensorIntrinsic);
    if (call != loop->annotations.end()) names.insert(std::get<std::string>(call->second));
  }
  return names;
}

/// The location of the intrinsic's implementation for the target, for messages; "" if unknown.
std::string place_of(const TensorIntrinsic& intrinsic) {
  for (const auto& [target, implementation] : intrinsic.implementations) {
    SourceLocation place = implementation.location;
    place.column = 0;  // the line suffices
    if (!place.str().empty()) return place.str() + ": ";
  }
  return {};
}

/// "", or how a call of the intrinsic computes something else, writes outside its buffers, or changes the
/// floating-point mode. `compiled`: null if the hardware is missing, so that the call is only interpreted.
std::string fault_of_runs(const std::string& intrinsic, Target& base, const Program& program,
                          const LoweredProgram& lowered, const CompiledKernel* compiled) {
  const auto differs = [&](const std::string& fault) {
    return fmt::format("{}: its implementation does not compute its semantics: {}", intrinsic, fault);
  };
  std::optional<KernelRuns> runs;
  const auto results = [&](std::vector<Tensor> arguments) {
    const AtWork running(intrinsic + ": running it");
    if (!runs) runs.emplace(base, *compiled, program.inputs.size());
    return runs->run(std::move(arguments));
  };
  try {
    for (uint64_t seed = kSeed; seed < kSeed + seeds_of(program); ++seed) {
      const Numeric numeric(program, seed);
      if (const std::string fault = numeric.difference(lowered); !fault.empty())
        return fmt::format("{}: a lowered call, interpreted: {}", intrinsic, fault);
      for (size_t set = 0; compiled != nullptr && set < numeric.sets(); ++set) {
        const std::string fault = numeric.difference(set, results(numeric.arguments(set)));
        if (!fault.empty()) return differs(fault);
      }
    }
    for (size_t corner = 0; compiled != nullptr && corner < corners_of(program); ++corner) {
      std::vector<Tensor> arguments = corner_of(program, corner);
      const std::vector<Tensor> found = results(arguments);
      interpret(program, arguments);
      if (found != arguments) return differs(fmt::format("with {}", corner_text(program, corner)));
    }
  } catch (const EnvironmentError& error) {
    return fmt::format("{}: {}", intrinsic, error.what());
  }
  return {};
}

/// Any of the intrinsics in a program may be at fault.
std::string together_with(const Program& lowered) { return "; the program calls " + called_places(lowered); }

/// "", or the fault of the intrinsic. `own`: those of its extension;
/// `called` has the names of those checked so far, and receives those that
/// the program also calls; no program if it cannot be checked by itself.
std::string fault_of(const TensorIntrinsicPtr& checked, Target& base, const LowerOptions& options,
                     const Pipeline& pipeline, bool here, const std::vector<TensorIntrinsicPtr>& own,
                     std::set<std::string>& called) {
  const TensorIntrinsic& intrinsic = *checked;
  const std::string name = fmt::format("intrinsic {}", intrinsic.name);
  Program program;
  LoweredProgram lowered;
  try {
    if (intrinsic.level.empty()) {
      program = single_call(checked, kWideStride);
    } else {
      auto together = calling_together(intrinsic, own, options.execution);
      if (!together) return {};
      program = std::move(*together);
    }
    lowered = lower(program, options, pipeline);
  } catch (const ScheduleError& refusal) {
    return fmt::format("{}{}: its own semantics cannot be given to it: {}: {}", place_of(intrinsic), name,
                       refusal.primitive(), refusal.reason());
  } catch (const LowerError& refusal) {
    return fmt::format("{}{}: a call of it cannot be lowered: {}", place_of(intrinsic), name, refusal.what());
  }
  std::set<std::string> calls = calls_in(lowered.program);
  if (!calls.contains(intrinsic.name))
    return fmt::format("{}{}: it is not called in the lowered program", place_of(intrinsic), name);
  if (std::ranges::includes(called, calls)) return {};
  called.insert(calls.begin(), calls.end());
  tl::expected<CompiledKernel, std::string> compiled;
  const std::string whole_name = fmt::format("{}{}", place_of(intrinsic), name);
  if (here) {
    const AtWork compiling(whole_name + ": compiling a call of it");
    compiled = base.compile(lowered, "kernel");
    if (!compiled) {
      const bool named = compiled.error().find(": tensor intrinsic ") != std::string::npos;
      return fmt::format("{}: {}{}", name, compiled.error(), named ? "" : together_with(lowered.program));
    }
  }
  const std::string fault = fault_of_runs(whole_name, base, program, lowered, here ? &*compiled : nullptr);
  return fault.empty() || calls.size() == 1 ? fault : fault + together_with(lowered.program);
}

}  // namespace

Verdict check_intrinsics(const std::shared_ptr<Target>& base, const TargetExtension& extension) {
  LowerOptions options = lower_options_of(*base);
  const size_t before = options.intrinsics.size();
  extension.adapt(options);
  Pipeline pipeline = base->pipeline();
  extension.extend(pipeline);
  if (options.intrinsics.size() <= before) return skipped("it brings no tensor intrinsics");
  const ProbeResult target_probe = base->probe();
  const ProbeResult probe = target_probe.here() ? extension.probe(*base) : target_probe;
  std::vector<TensorIntrinsicPtr> own(options.intrinsics.begin() + static_cast<std::ptrdiff_t>(before),
                                      options.intrinsics.end());
  // Only a pipeline with a producer calls these, and a copy cannot be checked with its consumers.
  std::erase_if(own, [](const TensorIntrinsicPtr& intrinsic) { return intrinsic->bulk_copy; });
  std::set<std::string> checked;
  // Repeats while new intrinsics are called: a product may accept the results of several loads.
  for (size_t known = own.size() + 1; known != checked.size();) {
    known = checked.size();
    for (const TensorIntrinsicPtr& intrinsic : own) {
      std::vector<TensorIntrinsicPtr> others = own;
      std::ranges::stable_partition(
          others, [&](const TensorIntrinsicPtr& other) { return !checked.contains(other->name); });
      const std::string fault = fault_of(intrinsic, *base, options, pipeline, probe.here(), others, checked);
      if (!fault.empty()) return failed(fault);
    }
  }
  for (const TensorIntrinsicPtr& intrinsic : own) {
    if (!checked.contains(intrinsic->name))
      return failed(
          fmt::format("{}intrinsic {}: no other one brings its operands to the group, or takes what "
                      "it leaves there, so that no program can call it",
                      place_of(*intrinsic), intrinsic->name));
  }
  if (probe.here()) return passed();
  return unsupported(fmt::format(
      "this machine lacks {}: the calls are right as they are interpreted, and nothing was compiled",
      probe.missing));
}

}  // namespace tunesmith::conformance
