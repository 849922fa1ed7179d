// The interface of transformation modules, and the context of a call, with the machine: named quantities, the
// levels at which it executes loops, and its memories.
//
// A module analyses, samples and transforms one block (MetaSchedule, section 3.2). The kernel calls it for
// each block in post-order, or once at the root if its stage is Root; it times the call and verifies the
// program. This header includes everything that a module needs.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tunesmith/stable/analysis.h"
#include "tunesmith/stable/error.h"
#include "tunesmith/stable/plugin.h"
#include "tunesmith/stable/schedule.h"

namespace tunesmith {
inline namespace stable {

/// A machine as named quantities ("cores", "vector_bits"); docs/targets.md lists them.
class DeviceModel {
 public:
  explicit DeviceModel(const tunesmith_context* context) : context_(context) {}

  std::optional<double> find(std::string_view name) const {
    if (detail::tables.context->has_quantity(context_, detail::text(name)) == 0) return std::nullopt;
    return get(name);
  }
  /// Throws EnvironmentError with the quantity's name if the target does not define it.
  double get(std::string_view name) const {
    double value = 0.0;
    detail::check(detail::tables.context->quantity(context_, detail::text(name), &value));
    return value;
  }
  double get_or(std::string_view name, double fallback) const { return find(name).value_or(fallback); }

 private:
  const tunesmith_context* context_;
};

/// One level of a machine's parallel execution, such as its cores.
struct ExecutionLevel {
  std::string name;
  std::vector<std::string> axes;  // a loop is bound to "<level>.<axis>"; the first varies fastest
  std::vector<int64_t> most;      // maximum number of iterations along each axis
  int64_t max_together = 0;       // maximum along all axes
  /// Iterations within one iteration of the enclosing level share memory and can synchronise.
  bool synchronises = false;
  /// The number of iterations of the first inner level without groups that make up one iteration of this
  /// level; 0: as many as loops are bound for.
  int64_t group = 0;
};

/// A kind of memory. Buffers name it as their scope.
struct MemoryScope {
  std::string name;
  std::string owner;      // the level whose iterations each have an instance; "": all share one
  int64_t capacity = 0;   // bytes of one instance; 0: no limit
  int64_t alignment = 1;  // alignment of its buffers in bytes
  int64_t banks = 0;      // banks that are accessed in parallel; 0: none
  int64_t bank_bytes = 0;
  std::vector<int64_t> async_copy_bytes = {};  // sizes in bytes of asynchronous copies; empty: none
};

struct ExecutionModel {
  ExecutionModel() = default;
  explicit ExecutionModel(const tunesmith_execution& from) {
    for (uint64_t i = 0; i < from.levels.count; ++i) {
      const auto& level = detail::element<tunesmith_level>(from.levels, i);
      ExecutionLevel& made = levels.emplace_back();
      made.name = detail::view(level.name);
      for (uint64_t axis = 0; axis < level.axis_count; ++axis)
        made.axes.emplace_back(detail::view(level.axes[axis]));
      made.most.assign(level.axis_limits, level.axis_limits + level.axis_count);
      made.max_together = level.limit;
      made.synchronises = level.synchronises != 0;
      made.group = level.group;
    }
    for (uint64_t i = 0; i < from.scopes.count; ++i) {
      const auto& scope = detail::element<tunesmith_scope>(from.scopes, i);
      scopes.push_back({std::string(detail::view(scope.name)),
                        std::string(detail::view(scope.owner)),
                        scope.capacity,
                        scope.alignment,
                        scope.banks,
                        scope.bank_bytes,
                        {scope.async_copy_bytes, scope.async_copy_bytes + scope.async_copy_count}});
    }
  }

  std::vector<ExecutionLevel> levels;  // outermost first
  std::vector<MemoryScope> scopes;

  struct Axis {
    size_t level = 0;
    size_t axis = 0;

    auto operator<=>(const Axis&) const = default;
  };
  /// Finds "<level>.<axis>"; nothing if the machine has no such axis.
  std::optional<Axis> find_axis(std::string_view name) const {
    for (size_t level = 0; level < levels.size(); ++level) {
      for (size_t axis = 0; axis < levels[level].axes.size(); ++axis) {
        if (axis_name({level, axis}) == name) return Axis{level, axis};
      }
    }
    return std::nullopt;
  }
  std::string axis_name(const Axis& axis) const {
    return levels[axis.level].name + "." + levels[axis.level].axes[axis.axis];
  }
  /// Null if the machine has no scope with this name.
  const MemoryScope* find_scope(std::string_view name) const {
    for (const MemoryScope& scope : scopes) {
      if (scope.name == name) return &scope;
    }
    return nullptr;
  }
  /// The number of levels down to and including the owner of the scope; 0 if one instance serves all.
  size_t depth_of(const MemoryScope& scope) const {
    for (size_t i = 0; i < levels.size(); ++i) {
      if (levels[i].name == scope.owner) return i + 1;
    }
    return 0;
  }
  /// The axis along which the members of the level's groups lie; nothing if the level has no groups.
  std::optional<Axis> group_axis(size_t level) const {
    if (levels[level].group == 0) return std::nullopt;
    for (size_t inside = level + 1; inside < levels.size(); ++inside) {
      if (levels[inside].group == 0) return Axis{inside, 0};
    }
    return std::nullopt;
  }
  /// The first level from which on all levels synchronise; levels.size() if the innermost does not.
  size_t first_synchronising() const {
    size_t first = levels.size();
    while (first > 0 && levels[first - 1].synchronises) --first;
    return first;
  }
};

/// The result of a module. Declining is a result, not an exception.
class [[nodiscard]] ModuleResult {
 public:
  enum class Status : uint32_t {
    Applied = TUNESMITH_STATUS_APPLIED,
    NotApplicable = TUNESMITH_STATUS_NOT_APPLICABLE,
    Broken = TUNESMITH_STATUS_BROKEN
  };

  /// The module applied: one schedule, or several, which forks the space. Not empty. `reason`: why there are
  /// no more schedules, as a constant sentence; may be "".
  static ModuleResult applied(std::vector<Schedule> schedules, std::string reason = "") {
    return {Status::Applied, std::move(reason), std::move(schedules)};
  }
  static ModuleResult applied(Schedule schedule) {
    std::vector<Schedule> one;
    one.push_back(std::move(schedule));
    return applied(std::move(one));
  }
  /// The module does not apply here. `reason` is a constant sentence: it is counted and printed.
  static ModuleResult not_applicable(std::string reason) {
    return {Status::NotApplicable, std::move(reason), {}};
  }
  /// The module broke its contract or met an impossible state: the run stops and names the plugin.
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
  Finishing = TUNESMITH_STAGE_FINISHING  // once for each candidate, after the marker in its trace
};

/// The information for a module. Valid during one call.
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
  /// The extension's intrinsics for the target, in its order; empty if the extension is not present.
  std::vector<TensorIntrinsic> intrinsics(std::string_view extension) const {
    return detail::intrinsics_of(context_, extension);
  }
  /// Excludes the block from later modules; `spaces explain` shows the claim and its reason.
  void claim(std::string_view block_name, std::string_view why) {
    detail::check(detail::tables.context->claim(context_, detail::text(block_name), detail::text(why)));
  }

 private:
  tunesmith_context* context_;
  DeviceModel device_;
  mutable std::optional<ExecutionModel> execution_;
  mutable std::unique_ptr<detail::Snapshot> original_;
};

/// One object serves a whole run. apply() is called from several threads at once for different schedules, and
/// must not keep state between calls.
class TransformationModule {
 public:
  virtual ~TransformationModule() = default;
  virtual ModuleStage stage() const { return ModuleStage::Block; }
  virtual ModuleDescription description() const { return {}; }
  /// The module owns `schedule` and may change or clone it, through instructions only: the kernel keeps just
  /// the traces, and the trace of a returned schedule must continue the given one. `block_name` is empty for
  /// Root and Finishing modules. A ScheduleError that leaves apply() counts as NotApplicable with its reason
  /// for Block and Root modules, and as a failure of the candidate for Finishing modules; any other exception
  /// ends the run with the module's name.
  virtual ModuleResult apply(Schedule schedule, const std::string& block_name, ModuleContext& context) = 0;
};

template <>
struct PluginInterface<PluginKind::Module> {
  using type = TransformationModule;

  static uint32_t stage(const void* object) noexcept {
    try {
      return static_cast<uint32_t>(static_cast<const type*>(object)->stage());
    } catch (...) {  // the kernel reports an invalid stage
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
