// Composes a space from its description, completely or with an exception.
#include <algorithm>

#include <fmt/format.h>

#include "space/compile_intrinsics.h"
#include "space/compose_modules.h"
#include "space/composer.h"
#include "space/composition.h"
#include "space/extension_identity.h"
#include "space/named_extension.h"
#include "space/required_packs.h"
#include "space/watched_plugins.h"
#include "tunesmith/plugin/error.h"
#include "tunesmith/plugin/guard.h"
#include "tunesmith/plugin/script_plugin.h"

namespace tunesmith {
namespace {

/// `version`: of a class in a file; else "".
std::string rule_text(PluginKind kind, const std::string& id, const Options& options,
                      const std::string& version = "") {
  const std::string values = options.str();
  return fmt::format("{} {}{}{}{}{}\n", kind_name(kind), id, version.empty() ? "" : " ", version,
                     values.empty() ? "" : " ", values);
}

/// A call names its intrinsic, so names must be unique within a space.
void refuse_same_name(const Extensions& extensions, const std::string& latest, const PluginUse& use) {
  for (const TensorIntrinsicPtr& intrinsic : extensions.at(latest)) {
    for (const auto& [other, theirs] : extensions) {
      if (other != latest && std::ranges::count(theirs, intrinsic->name, &TensorIntrinsic::name) > 0) {
        throw UserError(use.location,
                        fmt::format("extensions '{}' and '{}' both have an intrinsic '{}'", other, latest,
                                    intrinsic->name),
                        "remove one of them from the space, or rename the intrinsic");
      }
    }
  }
}

/// No buffer is in an unknown scope, so the intrinsic would silently never be called.
void refuse_unknown_scopes(const Extensions& extensions, const std::string& latest,
                           const ExecutionModel& machine, const PluginUse& use) {
  for (const TensorIntrinsicPtr& intrinsic : extensions.at(latest)) {
    for (const TensorOperand& operand : intrinsic->operands) {
      if (operand.scope.empty() || machine.find_scope(operand.scope) != nullptr) continue;
      std::vector<std::string> known;
      for (const MemoryScope& scope : machine.scopes) known.push_back(scope.name);
      throw UserError(
          use.location,
          fmt::format("extension '{}': operand {} of {} is in the scope '{}', unknown to the target", latest,
                      operand.buffer->name, intrinsic->name, operand.scope),
          suggest(operand.scope, known));
    }
  }
}

/// An extension may change the target's quantities, but not remove them.
void refuse_vanished(const DeviceModel& before, const DeviceModel& after, const std::string& extension) {
  for (const auto& [name, value] : before.all()) {
    const double now = after.get(name);
    if (value > 0.0 && now <= 0.0)
      throw PluginError(
          PluginKind::Extension, extension,
          fmt::format("[P27] it sets the quantity {} to {}, but the target to {}", name, now, value));
  }
}

}  // namespace

/// Builds a state.
class Space::State::Builder {
 public:
  Builder(State& state, const SpaceSpec& spec, PluginRegistry& registry, TargetPresence presence)
      : state_(state), presence_(presence), composer_(registry, state.plugin_versions) {
    state.spec = spec;
    state.registry = &registry;
  }

  /// `given`: null, or an existing target.
  void build(std::shared_ptr<Target> given) {
    check_options(given.get());
    take_target(std::move(given));
    take_extensions();
    make_modules();
  }

 private:
  /// The rule of a plugin with checked options. A class in a file is identified by a hash of its text.
  std::string rule_of(PluginKind kind, const std::string& id, const Options& options) const {
    const auto version = state_.plugin_versions.find(fmt::format("{}:{}", kind_name(kind), id));
    return rule_text(kind, id, options, script_name(id) ? version->second : "");
  }

  /// Checks all options before anything is created. `given`: as for build().
  void check_options(const Target* given) {
    const SpaceSpec& description = state_.spec;
    require_packs(description, composer_.registry());
    if (given == nullptr) target_options_ = composer_.check(PluginKind::Target, description.target);
    for (const PluginUse& use : description.modules)
      module_options_.push_back(composer_.check(PluginKind::Module, use));
    for (const SpaceSpec::Stage& stage : description.search) {
      state_.searcher_options.push_back(composer_.check(PluginKind::Searcher, stage.searcher));
      state_.search_text += rule_of(PluginKind::Searcher, stage.searcher.id, state_.searcher_options.back());
      if (stage.trials > 0) state_.search_text += fmt::format("  trials {}\n", stage.trials);
    }
    state_.cost_model_options = composer_.check(PluginKind::CostModel, description.cost_model);
    state_.cost_model_text =
        rule_of(PluginKind::CostModel, description.cost_model.id, state_.cost_model_options);
    if (!description.task_scheduler.id.empty())
      state_.task_scheduler_options =
          composer_.options_of(PluginKind::TaskScheduler, description.task_scheduler);
  }

  /// `given`: as for build().
  void take_target(std::shared_ptr<Target> given) {
    const PluginUse& use = state_.spec.target;
    if (given) {
      state_.rules = fmt::format("target {}\n", given->identity());
      state_.target = std::move(given);
      state_.task_target = TargetIdentity::of(*state_.target);
      if (composer_.registry().has(PluginKind::Target, use.id))
        state_.task_target.library =
            foreign_target_identity(composer_.registry().info(PluginKind::Target, use.id));
    } else {
      state_.rules = rule_text(PluginKind::Target, use.id, target_options_);
      state_.target = watched(use.id, composer_.make<Target>(use, target_options_));
      state_.task_target = TargetIdentity::of(*state_.target);
      state_.task_target.library =
          foreign_target_identity(composer_.registry().info(PluginKind::Target, use.id));
    }
    if (const ProbeResult probe = state_.target->probe();
        !probe.here() && presence_ == TargetPresence::Required) {
      throw EnvironmentError(fmt::format("{}: target '{}' cannot run here: this machine lacks {}",
                                         use.location.str(), use.id, probe.missing));
    }
    state_.device = state_.target->device();
    state_.lower_options = lower_options_of(*state_.target);
    if (const std::string fault = execution_model_fault(state_.lower_options.execution); !fault.empty())
      throw PluginError(PluginKind::Target, use.id, "its execution(): " + fault);
    state_.lower_options.prepare = state_.target->can_prepare();
    check_description(PluginKind::Target, use.id, state_.device, state_.lower_options);
    state_.pipeline = watched_steps(PluginKind::Target, use.id, state_.target->pipeline(), Pipeline({}));
  }

  void take_extensions() {
    state_.task_target.extensions.emplace();
    for (const PluginUse& use : state_.spec.extensions) {
      if (const auto without = absent_extension(use, composer_.registry())) {
        state_.absent.push_back(*without);
        continue;
      }
      NamedExtension named = make_extension(use, composer_);
      if (is_here(named, use)) {
        add_extension(std::move(named), use);
      } else {
        for (TensorIntrinsicPtr& unusable : intrinsics_of(named, state_.lower_options))
          intrinsics_->add(std::move(unusable));
      }
    }
    // A name that an available extension defines refers to it.
    for (const TensorIntrinsicPtr& intrinsic : state_.lower_options.intrinsics) intrinsics_->add(intrinsic);
    state_.all_intrinsics = std::move(intrinsics_);
    state_.refused = take_away_refused(*state_.target, state_.intrinsics, state_.lower_options);
    if (!added_columns_.empty())
      state_.added_columns = std::make_shared<const std::vector<AddedColumn>>(std::move(added_columns_));
  }

  void make_modules() {
    for (size_t i = 0; i < state_.spec.modules.size(); ++i) {
      state_.modules.push_back(
          compose_module(state_.spec.modules[i], std::move(module_options_[i]), composer_));
    }
    bring_partners(state_.modules, state_.spec.removed, composer_);
    state_.spec.modules.clear();
    for (const ComposedModule& module : state_.modules) {
      state_.spec.modules.push_back(module.use);
      state_.rules += rule_of(PluginKind::Module, module.id, module.options);
    }
    state_.unconsumed = find_unconsumed(state_.modules, consumed_below(*state_.target, state_.pipeline));
  }

  /// Throws EnvironmentError if the extension is missing and the space requires it.
  bool is_here(const NamedExtension& named, const PluginUse& use) const {
    const ProbeResult probe = guard_plugin(PluginKind::Extension, named.name, "probe",
                                           [&] { return named.extension->probe(*state_.target); });
    if (!probe.here() && !use.optional) {
      throw EnvironmentError(
          fmt::format("{}: extension '{}' cannot be used here: this machine lacks {}; write '{}?' to use it "
                      "only where available",
                      use.location.str(), use.id, probe.missing, use.id));
    }
    return probe.here();
  }

  void add_extension(NamedExtension named, const PluginUse& use) {
    const std::string& name = named.name;
    const TargetExtension& extension = *named.extension;
    const auto call = [&](std::string_view what, auto function) {
      return guard_plugin(PluginKind::Extension, name, what, function);
    };
    const DeviceModel before = state_.device;
    call("describe", [&] { extension.describe(state_.device); });
    refuse_vanished(before, state_.device, name);
    const std::ptrdiff_t known = std::ssize(state_.lower_options.intrinsics);
    call("adapt", [&] { extension.adapt(state_.lower_options); });
    check_description(PluginKind::Extension, name, state_.device, state_.lower_options);
    Pipeline extended = state_.pipeline;
    call("extend", [&] { extension.extend(extended); });
    state_.pipeline = watched_steps(PluginKind::Extension, name, extended, state_.pipeline);
    for (AddedColumn& column : watched_columns(
             name, call("feature_columns", [&] { return extension.feature_columns(); }), state_.columns)) {
      state_.columns.push_back(column.column);
      added_columns_.push_back(std::move(column));
    }
    const std::string identity = extension_identity(extension, named.options, named.library);
    state_.rules += rule_text(PluginKind::Extension, use.id, named.options) + identity + "\n";
    state_.task_target.extensions->push_back({name, identity});
    const std::vector<TensorIntrinsicPtr>& all = state_.lower_options.intrinsics;
    state_.intrinsics[name].assign(all.begin() + std::min<std::ptrdiff_t>(known, std::ssize(all)), all.end());
    refuse_same_name(state_.intrinsics, name, use);
    refuse_unknown_scopes(state_.intrinsics, name, state_.lower_options.execution, use);
    state_.extensions.push_back(std::move(named.extension));
  }

  State& state_;
  TargetPresence presence_;
  Composer composer_;
  Options target_options_;
  std::vector<Options> module_options_;
  std::shared_ptr<TensorIntrinsics> intrinsics_ = std::make_shared<TensorIntrinsics>();
  std::vector<AddedColumn> added_columns_;
};

Space::Space(const SpaceSpec& spec, PluginRegistry& registry, TargetPresence presence)
    : state_(std::make_unique<State>()) {
  State::Builder(*state_, spec, registry, presence).build(nullptr);
}

Space::Space(const SpaceSpec& spec, PluginRegistry& registry, std::shared_ptr<Target> target)
    : state_(std::make_unique<State>()) {
  State::Builder(*state_, spec, registry, TargetPresence::Required).build(std::move(target));
}

}  // namespace tunesmith
