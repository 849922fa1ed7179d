// Transformation modules: the interface that a module plugin implements, and its context.
//
// A module is analysis, sampling and transformation over one block (MetaSchedule, section 3.2). It is called
// for each block in post-order, or once at the root when its stage says so, from one place in the kernel that
// times it and verifies the program. This header includes all that a module needs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tunesmith/stable/analysis.h"
#include "tunesmith/stable/machine.h"
#include "tunesmith/stable/plugin.h"
#include "tunesmith/stable/schedule.h"

namespace tunesmith {
inline namespace stable {

/// The answer of a module. A refusal is an answer, not an exception.
class [[nodiscard]] ModuleResult {
 public:
  enum class Status : uint32_t {
    Applied = TUNESMITH_STATUS_APPLIED,
    NotApplicable = TUNESMITH_STATUS_NOT_APPLICABLE,
    Broken = TUNESMITH_STATUS_BROKEN
  };

  /// The module did its work: one schedule, or several, which forks the space. Not empty. `reason`: why there
  /// are not more of them, a constant sentence as that of not_applicable; "" where there is nothing to say.
  static ModuleResult applied(std::vector<Schedule> schedules, std::string reason = "") {
    return {Status::Applied, std::move(reason), std::move(schedules)};
  }
  static ModuleResult applied(Schedule schedule) {
    std::vector<Schedule> one;
    one.push_back(std::move(schedule));
    return applied(std::move(one));
  }
  /// Nothing for it to do here. `reason` is a constant sentence: it is counted and printed.
  static ModuleResult not_applicable(std::string reason) {
    return {Status::NotApplicable, std::move(reason), {}};
  }
  /// The module broke its contract or met the impossible: the run stops and names the plugin.
  static ModuleResult broken(std::string reason) { return {Status::Broken, std::move(reason), {}}; }

  Status status() const { return status_; }
  const std::string& reason() const { return reason_; }
  std::vector<Schedule>& schedules() { return schedules_; }

 private:
  ModuleResult(Status status, std::string reason, std::vector<Schedule> schedules)
      : status_(status), reason_(std::move(reason)), schedules_(std::move(schedules)) {}

  Status status_;
  std::string reason_;
  std::vector<Schedule> schedules_;
};

/// When the space applies a module.
enum class ModuleStage : uint32_t {
  Block = TUNESMITH_STAGE_BLOCK,         // to each block, in post-order; its instructions are in the trace
  Root = TUNESMITH_STAGE_ROOT,           // once for each sketch, after all Block modules; in the trace
  Finishing = TUNESMITH_STAGE_FINISHING  // once for each candidate, behind the marker of its trace
};

/// What a module may know. Valid during one call.
class ModuleContext {
 public:
  explicit ModuleContext(tunesmith_context* context) : context_(context), device_(context) {}

  const DeviceModel& device() const { return device_; }
  /// Levels and scopes of the machine.
  const ExecutionModel& execution() const {
    if (execution_) return *execution_;
    const tunesmith_execution* told = detail::tables.context->execution(context_);
    if (told == nullptr) throw InternalError("there is no memory for the description of the machine");
    return execution_.emplace(*told);
  }
  /// The program before any module.
  Program original() const {
    if (original_ == nullptr) {
      const tunesmith_program* program = detail::tables.context->original(context_);
      const tunesmith_snapshot* read = nullptr;
      detail::check(detail::tables.program->read(program, &read));
      original_ = std::make_unique<detail::Snapshot>(read, program);
    }
    return Program(*original_);
  }
  /// Is the extension of this name in the space, and did its probe find the hardware?
  bool has_extension(std::string_view name) const {
    return detail::tables.context->has_extension(context_, detail::text(name)) != 0;
  }
  /// Keeps modules after this one away from the block: who and why are shown by `spaces explain`.
  void claim(std::string_view block_name, std::string_view why) {
    detail::check(detail::tables.context->claim(context_, detail::text(block_name), detail::text(why)));
  }

 private:
  tunesmith_context* context_;
  DeviceModel device_;
  mutable std::optional<ExecutionModel> execution_;
  mutable std::unique_ptr<detail::Snapshot> original_;
};

/// What a module says of itself to whoever composes a space of it. Annotations are hints: they change no
/// result, and somebody must carry them out; `spaces lint` names those that nobody does.
struct ModuleDescription {
  /// Keys of the annotations that schedules of this object, with its options, may leave for others.
  std::vector<std::string> makes = {};
  /// Keys of those that it carries out.
  std::vector<std::string> consumes = {};
  /// Ids of modules without which this one's work stays undone. A space that names this module has them, too,
  /// with their default options, unless it names or removes them itself.
  std::vector<std::string> partners = {};
  /// Where this module goes when another one brings it: before the first of the list that is named here, else
  /// at the end.
  std::vector<std::string> before = {};
};

/// One object for a whole run. apply() is called from several threads at once for different schedules, and
/// must not keep state between calls.
class TransformationModule {
 public:
  virtual ~TransformationModule() = default;
  virtual ModuleStage stage() const { return ModuleStage::Block; }
  virtual ModuleDescription description() const { return {}; }
  /// `schedule` is the module's own to change or to clone, through its instructions only: its trace is all
  /// that is kept, and what is answered continues it. For Root and Finishing modules `block_name` is empty. A
  /// ScheduleError that leaves apply() counts as NotApplicable with its reason for Block and Root modules,
  /// and makes the candidate a failure for Finishing ones; everything else that is thrown ends the run with
  /// the module's name.
  virtual ModuleResult apply(Schedule schedule, const std::string& block_name, ModuleContext& context) = 0;
};

template <>
struct PluginInterface<PluginKind::Module> {
  using type = TransformationModule;

  static uint32_t stage(const void* object) noexcept {
    try {
      return static_cast<uint32_t>(static_cast<const type*>(object)->stage());
    } catch (...) {  // the kernel reports a stage that is none
      return 0;
    }
  }
  static tunesmith_error* apply(void* object, tunesmith_schedule* given, tunesmith_text block,
                                tunesmith_context* context, tunesmith_answer* answer) noexcept {
    Schedule schedule(given);
    return detail::guarded([&] {
      ModuleContext surroundings(context);
      ModuleResult result = static_cast<type*>(object)->apply(std::move(schedule),
                                                              std::string(detail::view(block)), surroundings);
      for (Schedule& each : result.schedules())
        detail::check(detail::tables.answer->add(answer, each.release()));
      detail::check(detail::tables.answer->finish(answer, static_cast<uint32_t>(result.status()),
                                                  detail::text(result.reason())));
    });
  }
  static tunesmith_error* describe(const void* object, tunesmith_description* description) noexcept {
    return detail::guarded([&] {
      const ModuleDescription told = static_cast<const type*>(object)->description();
      const auto add = [&](tunesmith_relation relation, const std::vector<std::string>& names) {
        for (const std::string& name : names) {
          detail::check(detail::tables.description->add(description, static_cast<uint32_t>(relation),
                                                        detail::text(name)));
        }
      };
      add(TUNESMITH_RELATION_MAKES, told.makes);
      add(TUNESMITH_RELATION_CONSUMES, told.consumes);
      add(TUNESMITH_RELATION_PARTNER, told.partners);
      add(TUNESMITH_RELATION_BEFORE, told.before);
    });
  }
  static constexpr tunesmith_module_interface kFunctions = {sizeof(tunesmith_module_interface), &stage,
                                                            &apply, &describe};
};

}  // namespace stable
}  // namespace tunesmith
