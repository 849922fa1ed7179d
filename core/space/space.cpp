#include "tunesmith/space/space.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "plugin/guard.h"
#include "space/compile_intrinsics.h"
#include "space/composition.h"
#include "space/extension_identity.h"
#include "space/watched_plugins.h"
#include "tunesmith/plugin/error.h"
#include "tunesmith/support/hash.h"
#include "tunesmith/target/extension_file.h"

namespace tunesmith {
namespace {

/// Of open decisions, when the target's limits refuse what comes of them.
constexpr uint64_t kMostDraws = 100;

/// In task_target(), before the extensions.
constexpr std::string_view kWith = " with=";

/// Checks options and makes plugins, keeping account of what was used.
class Composer {
 public:
  Composer(PluginRegistry& registry, std::map<std::string, std::string>& versions)
      : registry_(registry), versions_(versions) {}

  Options check(PluginKind kind, const PluginUse& use) {
    Options options = options_of(kind, use);
    versions_[fmt::format("{}:{}", kind_name(kind), use.id)] = registry_.plugin_version(kind, use.id);
    return options;
  }

  /// Of a plugin that decides no time.
  Options options_of(PluginKind kind, const PluginUse& use) {
    const std::vector<OptionSpec>& specs = registry_.option_specs(kind, use.id, use.location);
    return Options::validate(specs, use.options, plugin_name(kind, use.id), use.location);
  }

  template <typename Interface>
  std::shared_ptr<Interface> make(const PluginUse& use, const Options& options) {
    return registry_.create<Interface>(use.id, options, use.location);
  }

 private:
  PluginRegistry& registry_;
  std::map<std::string, std::string>& versions_;
};

std::string rule_text(PluginKind kind, const std::string& id, const Options& options) {
  const std::string values = options.str();
  return fmt::format("{} {}{}{}\n", kind_name(kind), id, values.empty() ? "" : " ", values);
}

/// A call names its instruction, so no two extensions of a space may have one of one name.
void refuse_same_name(const Extensions& extensions, const std::string& latest, const PluginUse& use) {
  for (const TensorIntrinsicPtr& intrinsic : extensions.at(latest)) {
    for (const auto& [other, theirs] : extensions) {
      if (other != latest && std::ranges::count(theirs, intrinsic->name, &TensorIntrinsic::name) > 0) {
        throw UserError(use.location,
                        fmt::format("extensions '{}' and '{}' both have an intrinsic '{}'", other, latest,
                                    intrinsic->name),
                        "leave one of them out of the space, or give the intrinsic another name");
      }
    }
  }
}

}  // namespace

std::filesystem::path extension_path(const PluginUse& use) {
  if (!use.id.ends_with(".yaml")) return builtin_extension(use.id);
  return std::filesystem::path(use.location.file).parent_path() / use.id;
}

Space::Space(const SpaceSpec& spec, PluginRegistry& registry) : Space(spec, registry, nullptr) {}

Space::Space(const SpaceSpec& spec, PluginRegistry& registry, std::shared_ptr<Target> target)
    : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.spec = spec;
  state.registry = &registry;
  Composer composer(registry, state.plugin_versions);

  Options target_options;
  std::string foreign;
  if (!target) {
    target_options = composer.check(PluginKind::Target, spec.target);
    foreign = foreign_target_identity(registry.info(PluginKind::Target, spec.target.id));
  }
  std::vector<Options> module_options;
  for (const PluginUse& use : spec.modules) module_options.push_back(composer.check(PluginKind::Module, use));
  for (const SpaceSpec::Stage& stage : spec.search) {
    state.searcher_options.push_back(composer.check(PluginKind::Searcher, stage.searcher));
    state.search_text += rule_text(PluginKind::Searcher, stage.searcher.id, state.searcher_options.back());
    if (stage.trials > 0) state.search_text += fmt::format("  trials {}\n", stage.trials);
  }
  state.cost_model_options = composer.check(PluginKind::CostModel, spec.cost_model);
  state.cost_model_text = rule_text(PluginKind::CostModel, spec.cost_model.id, state.cost_model_options);
  if (!spec.task_scheduler.id.empty())
    state.task_scheduler_options = composer.options_of(PluginKind::TaskScheduler, spec.task_scheduler);

  state.rules = target ? fmt::format("target {}\n", target->identity())
                       : rule_text(PluginKind::Target, spec.target.id, target_options);
  state.target = target ? std::move(target)
                        : watched(spec.target.id, composer.make<Target>(spec.target, target_options));
  state.task_target = tunesmith::task_target(*state.target);
  if (!foreign.empty()) state.task_target += " plugin=" + foreign;
  if (const ProbeResult probe = state.target->probe(); !probe.here()) {
    throw EnvironmentError(fmt::format("{}: target '{}' cannot run here: this machine lacks {}",
                                       spec.target.location.str(), spec.target.id, probe.missing));
  }
  state.device = state.target->device();
  state.lower_options = lower_options_of(*state.target);
  if (const std::string fault = execution_model_fault(state.lower_options.execution); !fault.empty())
    throw PluginError(PluginKind::Target, spec.target.id, "its execution(): " + fault);
  state.lower_options.prepare = state.target->can_prepare();
  check_description(PluginKind::Target, spec.target.id, state.device, state.lower_options);
  state.pipeline = watched_steps(PluginKind::Target, spec.target.id, state.target->pipeline(), Pipeline({}));
  std::vector<AddedColumn> added_columns;
  std::vector<TensorIntrinsicPtr> all_intrinsics;
  std::string with;
  for (const PluginUse& use : spec.extensions) {
    std::shared_ptr<TargetExtension> extension;
    Options options;
    const PluginInfo* library = nullptr;
    std::string name = use.id;
    if (const std::filesystem::path file = extension_path(use); !file.empty()) {
      if (!use.options.empty())
        throw UserError(use.location, fmt::format("extension '{}' has no options: it is a file", use.id));
      const std::shared_ptr<ExtensionFile> read = ExtensionFile::load(file);
      name = read->name();
      extension = read;
    } else {
      options = composer.check(PluginKind::Extension, use);
      extension = composer.make<TargetExtension>(use, options);
      library = &registry.info(PluginKind::Extension, use.id);
    }
    const auto call = [&](std::string_view what, auto function) {
      return guard_plugin(PluginKind::Extension, name, what, function);
    };
    if (const ProbeResult probe = call("probe", [&] { return extension->probe(*state.target); });
        !probe.here()) {
      if (use.optional) {
        LowerOptions unused = state.lower_options;
        unused.intrinsics.clear();
        call("adapt", [&] { extension->adapt(unused); });
        all_intrinsics.insert(all_intrinsics.end(), unused.intrinsics.begin(), unused.intrinsics.end());
        continue;
      }
      throw EnvironmentError(
          fmt::format("{}: extension '{}' cannot be used here: this machine lacks {}; write '{}?' to "
                      "take it only where it is",
                      use.location.str(), use.id, probe.missing, use.id));
    }
    call("describe", [&] { extension->describe(state.device); });
    const auto known = static_cast<std::ptrdiff_t>(state.lower_options.intrinsics.size());
    call("adapt", [&] { extension->adapt(state.lower_options); });
    check_description(PluginKind::Extension, name, state.device, state.lower_options);
    Pipeline extended = state.pipeline;
    call("extend", [&] { extension->extend(extended); });
    state.pipeline = watched_steps(PluginKind::Extension, name, extended, state.pipeline);
    for (AddedColumn& column : watched_columns(
             name, call("feature_columns", [&] { return extension->feature_columns(); }), state.columns)) {
      state.columns.push_back(column.column);
      added_columns.push_back(std::move(column));
    }
    const std::string identity = extension_identity(*extension, options, library);
    state.rules += rule_text(PluginKind::Extension, use.id, options) + identity + "\n";
    with += fmt::format("{}{}:{}", with.empty() ? "" : ",", name, identity);
    state.extensions.push_back(extension);
    const std::vector<TensorIntrinsicPtr>& all = state.lower_options.intrinsics;
    state.intrinsics[name].assign(all.begin() + std::min<std::ptrdiff_t>(known, std::ssize(all)), all.end());
    refuse_same_name(state.intrinsics, name, use);
  }
  // A name that an extension here has is that one's.
  all_intrinsics.insert(all_intrinsics.end(), state.lower_options.intrinsics.begin(),
                        state.lower_options.intrinsics.end());
  state.all_intrinsics = std::make_shared<const TensorIntrinsics>(all_intrinsics);
  state.task_target += fmt::format("{}{}", kWith, with.empty() ? "none" : with);
  state.refused = take_away_refused(*state.target, state.intrinsics, state.lower_options);
  if (!added_columns.empty())
    state.added_columns = std::make_shared<const std::vector<AddedColumn>>(std::move(added_columns));
  for (size_t i = 0; i < spec.modules.size(); ++i) {
    const PluginUse& use = spec.modules[i];
    auto module = composer.make<TransformationModule>(use, module_options[i]);
    const ModuleStage stage =
        guard_plugin(PluginKind::Module, use.id, "stage", [&] { return module->stage(); });
    state.modules.push_back({use.id, std::move(module), stage});
    state.rules += rule_text(PluginKind::Module, use.id, module_options[i]);
  }
}

std::string_view without_extensions(std::string_view task_target) {
  return task_target.substr(0, task_target.rfind(kWith));
}

std::shared_ptr<const TensorIntrinsics> read_extensions(const SpaceSpec& spec, PluginRegistry& registry) {
  std::map<std::string, std::string> versions;
  Composer composer(registry, versions);
  LowerOptions options;
  for (const PluginUse& use : spec.extensions) {
    if (const std::filesystem::path file = extension_path(use); !file.empty()) {
      ExtensionFile::load(file)->adapt(options);
    } else {
      const auto extension = composer.make<TargetExtension>(use, composer.check(PluginKind::Extension, use));
      guard_plugin(PluginKind::Extension, use.id, "adapt", [&] { extension->adapt(options); });
    }
  }
  return std::make_shared<const TensorIntrinsics>(options.intrinsics);
}

Space::~Space() = default;

const SpaceSpec& Space::spec() const { return state_->spec; }
Target& Space::target() const { return *state_->target; }
const DeviceModel& Space::device() const { return state_->device; }
const std::shared_ptr<const TensorIntrinsics>& Space::intrinsics() const { return state_->all_intrinsics; }
const std::vector<FeatureColumn>& Space::feature_columns() const { return state_->columns; }
const std::string& Space::task_target() const { return state_->task_target; }
const std::string& Space::rules() const { return state_->rules; }
uint64_t Space::rules_hash() const { return hash_bytes(state_->rules); }
const std::string& Space::search_text() const { return state_->search_text; }
const std::string& Space::cost_model_text() const { return state_->cost_model_text; }
const std::vector<RefusedIntrinsic>& Space::refused_intrinsics() const { return state_->refused; }
const std::map<std::string, std::string>& Space::plugin_versions() const { return state_->plugin_versions; }

std::shared_ptr<Searcher> Space::create_searcher(size_t stage) const {
  const PluginUse& use = state_->spec.search.at(stage).searcher;
  return watched(
      use.id, state_->registry->create<Searcher>(use.id, state_->searcher_options.at(stage), use.location));
}

std::shared_ptr<Searcher> Space::create_searcher(const std::string& id) const {
  PluginRegistry& registry = *state_->registry;
  return watched(
      id, registry.create<Searcher>(id, Options::defaults(registry.option_specs(PluginKind::Searcher, id),
                                                          plugin_name(PluginKind::Searcher, id))));
}

std::shared_ptr<CostModel> Space::create_cost_model() const {
  const PluginUse& use = state_->spec.cost_model;
  std::shared_ptr<CostModel> model =
      watched(use.id, state_->registry->create<CostModel>(use.id, state_->cost_model_options, use.location));
  model->use_columns(state_->columns);
  model->use_execution(state_->target->execution());
  return model;
}

std::shared_ptr<TaskScheduler> Space::create_task_scheduler() const {
  const PluginUse& use = state_->spec.task_scheduler;
  if (use.id.empty()) {
    throw UserError(
        state_->spec.location,
        fmt::format("space '{}' names no task scheduler, which several workloads need", state_->spec.name),
        "write task_scheduler: {kind: ...} there");
  }
  return watched(
      use.id, state_->registry->create<TaskScheduler>(use.id, state_->task_scheduler_options, use.location));
}

tl::expected<CandidatePtr, CandidateFailure> Space::materialise(const Program& program, const Trace& trace,
                                                                RandomStream random,
                                                                const LoweringObserver& observer) const {
  auto made = materialise_draw(program, trace, random, observer);
  const auto refused_draw = [&] {
    if (made || made.error().cause != FailureCause::VerifyLimits) return false;
    const std::vector<size_t> points = trace.sampling();
    return std::ranges::any_of(points, [&](size_t point) { return !trace[point].decision; });
  };
  for (uint64_t draw = 1; draw < kMostDraws && refused_draw(); ++draw)
    made = materialise_draw(program, trace, RandomStream(random.next(), draw), observer);
  return made;
}

tl::expected<CandidatePtr, CandidateFailure> Space::materialise_draw(const Program& program,
                                                                     const Trace& trace, RandomStream random,
                                                                     const LoweringObserver& observer) const {
  tl::expected<Schedule, ScheduleError> replayed =
      replay(program, trace, random, nullptr, state_->all_intrinsics);
  const auto refused = [](FailureCause cause, std::string why, std::string detail) {
    return tl::make_unexpected(CandidateFailure{cause, std::move(why), std::move(detail)});
  };
  if (!replayed) {
    return refused(FailureCause::IllegalSchedule, refusal_text(replayed.error()), replayed.error().detail());
  }
  Schedule finished = std::move(*replayed);
  if (!trace.complete()) {
    finished.enter_finishing();
    Claims claims;
    const ModuleSurroundings surroundings{state_->device, state_->lower_options.execution, state_->intrinsics,
                                          program};
    for (const ComposedModule& module : state_->modules) {
      if (module.stage != ModuleStage::Finishing) continue;
      auto result = apply_module(module, finished, "", surroundings, claims);
      if (!result && result.error().primitive() == module.id)
        return refused(FailureCause::VerifyLimits, result.error().reason(), result.error().detail());
      if (!result) {
        return refused(FailureCause::IllegalSchedule,
                       fmt::format("finishing module '{}': {}", module.id, refusal_text(result.error())),
                       result.error().detail());
      }
      if (result->status() == ModuleResult::Status::Applied)
        finished = std::move(result->schedules().front());
    }
  }
  if (const RefusedIntrinsic* called =
          called_refused(finished.program(), state_->refused, state_->lower_options.intrinsics))
    return refused(FailureCause::CompileError, called->str(), called->name);
  auto candidate = std::make_shared<Candidate>();
  candidate->trace = finished.trace();
  candidate->points = finished.sampling_points();
  candidate->added_columns = state_->added_columns;
  try {
    candidate->lowered = lower(finished.program(), state_->lower_options, state_->pipeline, observer);
  } catch (const LowerError& error) {
    return refused(FailureCause::VerifyLimits, error.reason(), error.what());
  }
  candidate->lowered_hash = lowered_hash(candidate->lowered);
  return CandidatePtr(std::move(candidate));
}

}  // namespace tunesmith
