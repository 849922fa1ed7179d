#include <string>
#include <vector>

#include <fmt/format.h>

#include "space/composition.h"
#include "tunesmith/analysis/verify.h"
#include "tunesmith/ir/program.h"
#include "tunesmith/plugin/guard.h"

namespace tunesmith {
namespace {

class Context final : public ModuleContext {
 public:
  Context(const std::string& module, const ModuleInputs& inputs, Claims& claims)
      : module_(module), inputs_(inputs), claims_(claims) {}

  const DeviceModel& device() const override { return inputs_.device; }
  const ExecutionModel& execution() const override { return inputs_.execution; }
  const Program& original() const override { return inputs_.original; }
  bool has_extension(std::string_view name) const override { return inputs_.extensions.contains(name); }
  std::vector<TensorIntrinsicPtr> intrinsics(std::string_view extension) const override {
    const auto found = inputs_.extensions.find(extension);
    return found == inputs_.extensions.end() ? std::vector<TensorIntrinsicPtr>() : found->second;
  }
  void claim(std::string_view block_name, std::string why) override {
    claims_.try_emplace(std::string(block_name), Claim{module_, std::move(why)});
  }

 private:
  const std::string& module_;
  const ModuleInputs& inputs_;
  Claims& claims_;
};

/// Does `trace` begin with exactly the instructions of `given`?
bool continues(const Trace& trace, const Trace& given) {
  if (trace.size() < given.size()) return false;
  for (size_t i = 0; i < given.size(); ++i) {
    if (trace.shared(i) != given.shared(i)) return false;
  }
  return true;
}

/// Names of blocks and buffers, which instructions use and the structural hash ignores.
std::vector<std::string> names_of(const Program& program) {
  std::vector<std::string> names;
  for (const Block* block : program.blocks()) names.push_back(block->name);
  for (const Buffer& buffer : program.buffers()) names.push_back(buffer->name);
  return names;
}

/// Applies the rest of `trace`, which continues the trace of
/// `input`: `input` was already replayed as an earlier result.
tl::expected<Schedule, ScheduleError> replay_from(const Schedule& input, const Trace& trace) {
  Schedule replayed = input.clone();
  try {
    for (size_t i = input.trace().size(); i < trace.size(); ++i) {
      const Instruction& instruction = trace[i];
      replayed.execute(*instruction.kind, instruction.args, instruction.decision);
    }
  } catch (const ScheduleError& error) {
    return tl::make_unexpected(error);
  }
  return replayed;
}

}  // namespace

std::string refusal_text(const ScheduleError& refusal) {
  return fmt::format("{}: {}", refusal.primitive(), refusal.reason());
}

tl::expected<ModuleResult, ScheduleError> apply_module(const ComposedModule& module, const Schedule& input,
                                                       const std::string& block, const ModuleInputs& inputs,
                                                       Claims& claims) {
  const std::string place = block.empty() ? "the program" : fmt::format("block '{}'", block);
  Context context(module.id, inputs, claims);
  const auto broken = [&](const std::string& how) {
    return PluginError(PluginKind::Module, module.id, fmt::format("at {}: {}", place, how));
  };
  const std::string call = "apply at " + place;
  using Answer = tl::expected<ModuleResult, ScheduleError>;
  Answer answered = guard_plugin(PluginKind::Module, module.id, call, [&]() -> Answer {
    try {
      return module.module->apply(input.clone(), block, context);
    } catch (const ScheduleMisuse& misuse) {
      throw broken(fmt::format("[P23] invalid call of {}", misuse.what()));
    } catch (const ScheduleError& refusal) {
      return tl::make_unexpected(refusal);
    }
  });
  if (!answered) return answered;
  ModuleResult& result = *answered;
  switch (result.status()) {
    case ModuleResult::Status::NotApplicable:
      return answered;
    case ModuleResult::Status::Broken:
      throw broken(result.reason());
    case ModuleResult::Status::Applied:
      break;
  }
  if (result.schedules().empty()) throw broken("answered Applied without a schedule");
  for (const Schedule& answer : result.schedules()) {
    if (!continues(answer.trace(), input.trace()))
      throw broken(
          "[P23] the schedule it returned does not extend the one it was given: its trace lacks earlier "
          "instructions");
  }
  // Finishing modules run for every candidate; lowering and verification of results check them.
  if (module.stage == ModuleStage::Finishing) {
    if (result.schedules().size() > 1) throw broken("a finishing module must return one schedule");
    return answered;
  }
  for (const Schedule& answer : result.schedules()) {
    // Changes that bypass the schedule would be lost in every candidate. A program that a replay reproduces
    // is well formed, since transformations preserve that.
    const auto replayed = replay_from(input, answer.trace());
    if (replayed && names_of(replayed->program()) == names_of(answer.program()) &&
        structural_hash(replayed->program()) == structural_hash(answer.program()))
      continue;
    if (const std::string fault = verify(answer.program()); !fault.empty())
      throw broken("[P23] returned a program that is not well-formed: " + fault);
    throw broken(fmt::format("[P23] replaying its trace {}",
                             replayed ? "gives another program" : "fails: " + replayed.error().reason()));
  }
  return answered;
}

}  // namespace tunesmith
