// Adapts plugins of the stable tier to the kernel's interfaces.
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "api/handles.h"
#include "api/host.h"
#include "plugin/stable_plugin.h"
#include "tunesmith/plugin/error.h"
#include "tunesmith/plugin/note.h"
#include "tunesmith/search/task_scheduler.h"
#include "tunesmith/space/module.h"
#include "tunesmith/stable/c/plugin.h"

namespace tunesmith {

namespace {

using api::check;

// The note as plugins of this tier write it, and as the kernel reads it.
static_assert(sizeof(tunesmith_elf_note) == sizeof(ElfPluginNote) &&
              offsetof(tunesmith_note, tier) == offsetof(PluginNote, tier) &&
              offsetof(tunesmith_note, kind) == offsetof(PluginNote, kind) &&
              offsetof(tunesmith_note, major) == offsetof(PluginNote, api_major) &&
              offsetof(tunesmith_note, min_minor) == offsetof(PluginNote, api_minor) &&
              offsetof(tunesmith_note, id) == offsetof(PluginNote, id) &&
              offsetof(tunesmith_note, version) == offsetof(PluginNote, version));
static_assert(TUNESMITH_NOTE_MAGIC == PluginNote::kMagic && TUNESMITH_NOTE_VERSION == PluginNote::kVersion &&
              TUNESMITH_NOTE_TYPE == ElfPluginNote::kType &&
              TUNESMITH_NOTE_TIER_STABLE == static_cast<uint32_t>(PluginTier::Stable));

/// An object of a plugin, which the plugin itself destroys.
class StableObject {
 public:
  StableObject(const tunesmith_plugin& plugin, const std::vector<OptionSpec>& specs, const Options& options)
      : destroy_(plugin.destroy) {
    const tunesmith_options told{&options, specs};
    check(plugin.create(&told, &object_));
    if (object_ == nullptr) {
      throw PluginError(static_cast<PluginKind>(plugin.kind), std::string(api::view(plugin.id)),
                        "[P5] create() returned null");
    }
  }
  ~StableObject() { destroy_(object_); }
  StableObject(const StableObject&) = delete;
  StableObject& operator=(const StableObject&) = delete;

  void* get() const { return object_; }

 private:
  void (*destroy_)(void*);
  void* object_ = nullptr;
};

/// The table of the functions of its kind. Refuses one shorter than `length`, its size in version 1.0.
template <typename Interface>
const Interface& interface_of(const tunesmith_plugin& plugin, size_t length) {
  const auto* found = static_cast<const Interface*>(plugin.interface);
  if (found->size < length) {
    throw PluginError(static_cast<PluginKind>(plugin.kind), std::string(api::view(plugin.id)),
                      "[P5] its function table is too short");
  }
  return *found;
}

ModuleResult result_of(tunesmith_answer answer) {
  switch (answer.status) {
    case TUNESMITH_STATUS_APPLIED: {
      std::vector<Schedule> schedules;
      for (const auto& each : answer.schedules) schedules.push_back(std::move(each->schedule));
      return ModuleResult::applied(std::move(schedules), std::move(answer.reason));
    }
    case TUNESMITH_STATUS_NOT_APPLICABLE:
      return ModuleResult::not_applicable(std::move(answer.reason));
    case TUNESMITH_STATUS_BROKEN:
      return ModuleResult::broken(std::move(answer.reason));
    default:
      return ModuleResult::broken("apply() returned without an answer");
  }
}

class StableModule final : public TransformationModule {
 public:
  StableModule(const tunesmith_plugin& plugin, const std::vector<OptionSpec>& specs, const Options& options)
      : object_(plugin, specs, options),
        interface_(interface_of<tunesmith_module_interface>(
            plugin, offsetof(tunesmith_module_interface, describe) + sizeof(void*))) {}

  ModuleStage stage() const override {
    const uint32_t stage = interface_.stage(object_.get());
    switch (stage) {
      case TUNESMITH_STAGE_BLOCK:
        return ModuleStage::Block;
      case TUNESMITH_STAGE_ROOT:
        return ModuleStage::Root;
      case TUNESMITH_STAGE_FINISHING:
        return ModuleStage::Finishing;
      default:
        throw InternalError(fmt::format("unknown module stage {}", stage));
    }
  }

  ModuleDescription description() const override {
    tunesmith_description told;
    check(interface_.describe(object_.get(), &told));
    return std::move(told.description);
  }

  ModuleResult apply(Schedule schedule, const std::string& block_name, ModuleContext& context) override {
    tunesmith_context told(context);
    tunesmith_answer answer;
    check(interface_.apply(object_.get(), new tunesmith_schedule(std::move(schedule)), api::text(block_name),
                           &told, &answer));
    return result_of(std::move(answer));
  }

 private:
  const StableObject object_;
  const tunesmith_module_interface& interface_;
};

class StableTaskScheduler final : public TaskScheduler {
 public:
  StableTaskScheduler(const tunesmith_plugin& plugin, const std::vector<OptionSpec>& specs,
                      const Options& options)
      : object_(plugin, specs, options),
        interface_(interface_of<tunesmith_task_scheduler_interface>(
            plugin, offsetof(tunesmith_task_scheduler_interface, next) + sizeof(void*))) {}

  size_t next(const TaskSet& set) const override {
    static_assert(sizeof(Improvement) == sizeof(tunesmith_improvement));
    std::vector<tunesmith_task> tasks;
    for (const TaskHistory& task : set.tasks) {
      tasks.push_back({task.weight,
                       task.group,
                       task.operations,
                       task.trials,
                       {task.improvements.data(), task.improvements.size(), sizeof(Improvement)},
                       task.done ? 1U : 0U});
    }
    const uint32_t goal =
        set.goal == TuningGoal::TotalTime ? TUNESMITH_GOAL_TOTAL_TIME : TUNESMITH_GOAL_GEOMETRIC_MEAN;
    const tunesmith_task_set told = {sizeof(tunesmith_task_set), api::span_of(tasks), set.round, goal, 0};
    uint64_t chosen = 0;
    check(interface_.next(object_.get(), &told, &chosen));
    return chosen;
  }

 private:
  const StableObject object_;
  const tunesmith_task_scheduler_interface& interface_;
};

}  // namespace

void start_stable_plugin(const tunesmith_plugin& plugin) { check(plugin.start(&api::k_host)); }

std::vector<OptionSpec> stable_option_specs(const tunesmith_plugin& plugin) {
  tunesmith_option_list list;
  check(plugin.declare(&list));
  return std::move(list.specs);
}

std::shared_ptr<void> make_stable_object(const tunesmith_plugin& plugin, const std::vector<OptionSpec>& specs,
                                         const Options& options) {
  switch (plugin.kind) {
    case TUNESMITH_PLUGIN_KIND_MODULE:
      return std::static_pointer_cast<TransformationModule>(
          std::make_shared<StableModule>(plugin, specs, options));
    case TUNESMITH_PLUGIN_KIND_TASK_SCHEDULER:
      return std::static_pointer_cast<TaskScheduler>(
          std::make_shared<StableTaskScheduler>(plugin, specs, options));
    default:
      throw InternalError("no plugin of this kind goes through the stable interface");
  }
}

}  // namespace tunesmith
