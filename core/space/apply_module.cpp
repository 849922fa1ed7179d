#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "plugin/guard.h"
#include "plugin/watch.h"
#include "space/composition.h"
#include "tunesmith/analysis/verify.h"
#include "tunesmith/ir/program.h"

namespace tunesmith {
namespace {

class Context final : public ModuleContext {
 public:
  Context(const std::string& module, const DeviceModel& device, const Program& original, Claims& claims)
      : module_(module), device_(device), original_(original), claims_(claims) {}

  const DeviceModel& device() const override { return device_; }
  const Program& original() const override { return original_; }
  void claim(std::string_view block_name, std::string why) override {
    claims_.try_emplace(std::string(block_name), Claim{module_, std::move(why)});
  }

 private:
  const std::string& module_;
  const DeviceModel& device_;
  const Program& original_;
  Claims& claims_;
};

bool begins_with(const Trace& trace, const Trace& beginning) {
  if (trace.size() < beginning.size()) return false;
  for (size_t i = 0; i < beginning.size(); ++i) {
    if (trace.shared(i) != beginning.shared(i)) return false;
  }
  return true;
}

/// What instructions know blocks and buffers by, and the structural hash leaves out.
std::vector<std::string> names_of(const Program& program) {
  std::vector<std::string> names;
  for (const Block* block : program.blocks()) names.push_back(block->name);
  for (const Buffer& buffer : program.buffers()) names.push_back(buffer->name);
  return names;
}

/// What the trace makes of the original program. `input` was replayed when it was an answer itself, so that a
/// trace which goes on from there is replayed from there.
tl::expected<Schedule, ScheduleError> replay_answer(const Program& original, const Schedule& input,
                                                    const Trace& trace) {
  if (!begins_with(trace, input.trace())) return replay(original, trace);
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

tl::expected<ModuleResult, ScheduleError> apply_module(const ComposedModule& module, Schedule schedule,
                                                       const std::string& block, const DeviceModel& device,
                                                       const Program& original, Claims& claims) {
  const std::string place = block.empty() ? "the program" : fmt::format("block '{}'", block);
  Context context(module.id, device, original, claims);
  const auto broken = [&](const std::string& how) {
    return PluginError(PluginKind::Module, module.id, fmt::format("at {}: {}", place, how));
  };
  // Finishing modules run for every candidate; lowering and the comparison with the reference hold them to
  // account.
  std::optional<Schedule> input;
  if (module.stage != ModuleStage::Finishing) input = schedule.clone();
  const std::string call = "apply at " + place;
  using Answer = tl::expected<ModuleResult, ScheduleError>;
  Answer answered = guard_plugin(PluginKind::Module, module.id, call, [&]() -> Answer {
    const PluginWatch watch(PluginKind::Module, module.id, call);
    try {
      return module.module->apply(std::move(schedule), block, context);
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
  if (!input) {
    if (result.schedules().size() > 1) throw broken("a finishing module answers one schedule");
    return answered;
  }
  for (const Schedule& answer : result.schedules()) {
    if (const std::string fault = verify(answer.program()); !fault.empty()) {
      throw broken("[P23] left a program that is not well formed: " + fault);
    }
    // What a module did behind its schedule's back would be lost, or worse, in every candidate.
    const auto replayed = replay_answer(original, *input, answer.trace());
    if (!replayed || names_of(replayed->program()) != names_of(answer.program()) ||
        structural_hash(replayed->program()) != structural_hash(answer.program())) {
      throw broken(fmt::format("[P23] replaying its trace {}",
                               replayed ? "gives another program" : "fails: " + replayed.error().reason()));
    }
  }
  return answered;
}

}  // namespace tunesmith
