#include "tunesmith/space/check_space.h"

#include <algorithm>
#include <array>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "space/compose_modules.h"
#include "space/composer.h"
#include "space/composition.h"
#include "space/named_extension.h"
#include "tunesmith/ir/annotation_keys.h"
#include "tunesmith/plugin/error.h"
#include "tunesmith/plugin/guard.h"
#include "tunesmith/space/space.h"

namespace tunesmith {
namespace {

std::string with_options(const std::string& id, const Options& options) {
  const std::string values = options.str();
  return values.empty() ? id : id + " " + values;
}

/// The first line of a text of several lines.
std::string written_value(const RawOption& option) {
  std::vector<std::string> values;
  for (const RawScalar& value : option.values) {
    const size_t end = value.text.find('\n');
    values.push_back(end == std::string::npos ? value.text : value.text.substr(0, end) + " ...");
  }
  const bool list = option.shape == RawOption::Shape::List;
  return fmt::format("{}{}{}", list ? "[" : "", fmt::join(values, ", "), list ? "]" : "");
}

std::string written_options(const PluginUse& use) {
  std::vector<std::string> written;
  for (const RawOption& option : use.options) written.push_back(option.name + "=" + written_value(option));
  return fmt::format("{}", fmt::join(written, " "));
}

/// Ids of the installed modules that consume the annotation. Modules
/// that cannot be loaded are skipped: that is reported elsewhere.
std::vector<std::string> consumers_of(const std::string& key, PluginRegistry& registry) {
  std::vector<std::string> consumers;
  for (const PluginInfo& plugin : registry.list(PluginKind::Module)) {
    if (!registry.probe(PluginKind::Module, plugin.id).empty()) continue;
    try {
      const Options options = Options::defaults(registry.option_specs(PluginKind::Module, plugin.id),
                                                plugin_name(PluginKind::Module, plugin.id));
      const auto module = registry.create<TransformationModule>(plugin.id, options);
      const ModuleDescription description =
          guard_plugin(PluginKind::Module, plugin.id, "description", [&] { return module->description(); });
      if (std::ranges::find(description.consumes, key) != description.consumes.end())
        consumers.push_back("'" + plugin.id + "'");
    } catch (const Error&) {
      continue;
    }
  }
  return consumers;
}

class Checker {
 public:
  Checker(const SpaceSpec& spec, PluginRegistry& registry)
      : spec_(spec), registry_(registry), composer_(registry, versions_) {}

  SpaceCheck check() {
    result_.missing_packs = missing_packs(spec_, registry_);
    if (!result_.missing_packs.empty()) {
      result_.faults.push_back(
          {fmt::format("{}: space '{}' is not checked: it requires missing packs: {}", spec_.location.str(),
                       spec_.name, fmt::join(result_.missing_packs, ", ")),
           true});
      return std::move(result_);
    }
    check_target();
    check_extensions();
    check_modules();
    check_search();
    return std::move(result_);
  }

 private:
  /// Runs `step` and records its exception. True if there was none.
  template <typename Step>
  bool attempt(const Step& step) {
    try {
      step();
      return true;
    } catch (const UserError& error) {
      result_.faults.push_back({error.what(), false});
    } catch (const EnvironmentError& error) {
      result_.faults.push_back({error.what(), true});
    }
    return false;
  }

  /// Nothing if the plugin or one of its options is invalid, which is recorded.
  std::optional<Options> options_of(PluginKind kind, const PluginUse& use) {
    const std::vector<OptionSpec>* specs = nullptr;
    if (!attempt([&] { specs = &registry_.option_specs(kind, use.id, use.location); })) return std::nullopt;
    bool good = true;
    const auto validated = [&](const std::vector<RawOption>& written) {
      return Options::validate(*specs, written, plugin_name(kind, use.id), use.location);
    };
    for (const RawOption& option : use.options) good &= attempt([&] { validated({option}); });
    std::optional<Options> options;
    if (good) attempt([&] { options = validated(use.options); });
    return options;
  }

  void check_target() {
    result_.target = spec_.target.id;
    const std::optional<Options> options = options_of(PluginKind::Target, spec_.target);
    if (!options) return;
    result_.target = with_options(spec_.target.id, *options);
    attempt([&] {
      auto target = composer_.make<Target>(spec_.target, *options);
      const ProbeResult probe =
          guard_plugin(PluginKind::Target, spec_.target.id, "probe", [&] { return target->probe(); });
      if (!probe.here()) {
        throw EnvironmentError(fmt::format("{}: target '{}' cannot run here: this machine lacks {}",
                                           spec_.target.location.str(), spec_.target.id, probe.missing));
      }
      pipeline_ =
          guard_plugin(PluginKind::Target, spec_.target.id, "pipeline", [&] { return target->pipeline(); });
      target_ = std::move(target);
    });
  }

  void check_extensions() {
    for (const PluginUse& use : spec_.extensions) {
      result_.extensions.push_back({use.id, use.optional, ""});
      CheckedExtension& entry = result_.extensions.back();
      if (const auto absent = absent_extension(use, registry_)) {
        entry.lacks = "a pack that has it";
        // A name close to a known one is a misspelling.
        if (!absent->nearest.empty()) result_.faults.push_back({absent->str(), false});
        continue;
      }
      std::optional<NamedExtension> named;
      if (!attempt([&] { named = make_extension(use, composer_); })) {
        entry.lacks = is_installed(use) ? "a usable extension" : "a pack that has it";
        continue;
      }
      if (target_) attempt([&] { probe(use, *named, entry); });
    }
  }

  bool is_installed(const PluginUse& use) const {
    const std::vector<PluginInfo> installed = registry_.list(PluginKind::Extension);
    return !use.extension_path().empty() ||
           std::ranges::find(installed, use.id, &PluginInfo::id) != installed.end();
  }

  void probe(const PluginUse& use, const NamedExtension& named, CheckedExtension& entry) {
    entry.lacks = guard_plugin(PluginKind::Extension, named.name, "probe", [&] {
                    return named.extension->probe(*target_);
                  }).missing;
    if (entry.lacks.empty()) {
      guard_plugin(PluginKind::Extension, named.name, "extend", [&] { named.extension->extend(*pipeline_); });
    } else if (!use.optional) {
      throw EnvironmentError(
          fmt::format("{}: extension '{}' cannot be used here: this machine lacks {}; write '{}?' to use it "
                      "only where available",
                      use.location.str(), use.id, entry.lacks, use.id));
    }
  }

  void check_modules() {
    std::vector<ComposedModule> modules;
    bool all = true;
    for (const PluginUse& use : spec_.modules) {
      std::optional<Options> options = options_of(PluginKind::Module, use);
      all &=
          options && attempt([&] { modules.push_back(compose_module(use, std::move(*options), composer_)); });
    }
    all &= attempt([&] { bring_partners(modules, spec_.removed, composer_); });
    for (const ModuleStage stage : {ModuleStage::Block, ModuleStage::Root, ModuleStage::Finishing}) {
      for (const ComposedModule& module : modules) {
        if (module.stage != stage) continue;
        result_.modules.push_back(
            {module.id, stage, module.options.str(), written_options(module.use), module.use.brought_by});
      }
    }
    // A missing module might consume the annotations.
    if (all && target_) check_annotations(modules);
  }

  void check_annotations(const std::vector<ComposedModule>& modules) {
    const std::set<std::string> below = consumed_below(*target_, *pipeline_);
    for (const UnconsumedAnnotation& hint : find_unconsumed(modules, below))
      result_.faults.push_back({fmt::format("{}; {}", hint.str(), remedy_for(hint, modules, below)), false});
  }

  std::string remedy_for(const UnconsumedAnnotation& hint, const std::vector<ComposedModule>& modules,
                         const std::set<std::string>& below) {
    if (const std::vector<std::string> consumers = consumers_of(hint.key, registry_); !consumers.empty()) {
      return fmt::format("{} consume{} it: add {} to the modules, behind '{}'", fmt::join(consumers, " and "),
                         consumers.size() == 1 ? "s" : "", consumers.size() == 1 ? "it" : "one of them",
                         hint.module);
    }
    std::vector<std::string> known(below.begin(), below.end());
    for (const ComposedModule& module : modules)
      known.insert(known.end(), module.description.consumes.begin(), module.description.consumes.end());
    const std::string near = nearest_name(hint.key, known);
    return near.empty() ? "no installed module consumes it" : fmt::format("did you mean '{}'?", near);
  }

  void check_search() {
    for (const SpaceSpec::Stage& stage : spec_.search) options_of(PluginKind::Searcher, stage.searcher);
    options_of(PluginKind::CostModel, spec_.cost_model);
    if (!spec_.task_scheduler.id.empty()) options_of(PluginKind::TaskScheduler, spec_.task_scheduler);
    if (!spec_.runner.id.empty()) options_of(PluginKind::Runner, spec_.runner);
  }

  const SpaceSpec& spec_;
  PluginRegistry& registry_;
  std::map<std::string, std::string> versions_;
  Composer composer_;
  SpaceCheck result_;
  std::shared_ptr<Target> target_;    // null if not available
  std::optional<Pipeline> pipeline_;  // with the steps of the available extensions
};

}  // namespace

SpaceCheck check_space(const SpaceSpec& spec, PluginRegistry& registry) {
  return Checker(spec, registry).check();
}

std::string_view stage_name(ModuleStage stage) {
  constexpr std::array<std::string_view, 3> kNames = {"block", "root", "finishing"};
  return kNames.at(static_cast<size_t>(stage));
}

}  // namespace tunesmith
