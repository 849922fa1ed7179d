#include "space/compose_modules.h"

#include <algorithm>

#include <fmt/format.h>

#include "tunesmith/plugin/guard.h"

namespace tunesmith {
namespace {

bool has_module(const std::vector<ComposedModule>& modules, const std::string& id) {
  return std::ranges::find(modules, id, &ComposedModule::id) != modules.end();
}

/// The first partner of any module that must be added, with `brought_by`; without an id if there is none.
PluginUse missing_partner(const std::vector<ComposedModule>& modules,
                          const std::vector<std::string>& removed) {
  for (const ComposedModule& module : modules) {
    for (const std::string& partner : module.description.partners) {
      if (has_module(modules, partner) || std::ranges::find(removed, partner) != removed.end()) continue;
      return {partner, module.use.location, {}, false, module.id};
    }
  }
  return {};
}

ComposedModule compose_partner(const PluginUse& use, Composer& composer) {
  const std::vector<PluginInfo> installed = composer.registry().list(PluginKind::Module);
  if (std::ranges::find(installed, use.id, &PluginInfo::id) == installed.end()) {
    throw UserError(
        use.location,
        fmt::format("module '{}' needs its partner '{}', which is not installed", use.brought_by, use.id),
        "install it; `tunesmith plugins list --why` shows the search path");
  }
  return compose_module(use, composer.check(PluginKind::Module, use), composer);
}

bool consumes(const ModuleDescription& description, const std::string& key) {
  return std::ranges::find(description.consumes, key) != description.consumes.end();
}

}  // namespace

ComposedModule compose_module(const PluginUse& use, Options options, Composer& composer) {
  auto module = composer.make<TransformationModule>(use, options);
  const ModuleStage stage =
      guard_plugin(PluginKind::Module, use.id, "stage", [&] { return module->stage(); });
  ModuleDescription description =
      guard_plugin(PluginKind::Module, use.id, "description", [&] { return module->description(); });
  return {use.id, std::move(module), stage, use, std::move(options), std::move(description)};
}

void bring_partners(std::vector<ComposedModule>& modules, const std::vector<std::string>& removed,
                    Composer& composer) {
  for (PluginUse use = missing_partner(modules, removed); !use.id.empty();
       use = missing_partner(modules, removed)) {
    ComposedModule partner = compose_partner(use, composer);
    const std::vector<std::string>& before = partner.description.before;
    const auto place = std::ranges::find_if(modules, [&](const ComposedModule& module) {
      return std::ranges::find(before, module.id) != before.end();
    });
    modules.insert(place, std::move(partner));
  }
}

std::set<std::string> consumed_below(const Target& target, const Pipeline& pipeline) {
  const std::vector<std::string> own = target.consumes();
  std::set<std::string> keys(own.begin(), own.end());
  for (const LoweringStep& step : pipeline.steps()) keys.insert(step.consumes.begin(), step.consumes.end());
  return keys;
}

std::vector<UnconsumedAnnotation> find_unconsumed(const std::vector<ComposedModule>& modules,
                                                  const std::set<std::string>& below) {
  std::vector<UnconsumedAnnotation> found;
  for (auto maker = modules.begin(); maker != modules.end(); ++maker) {
    for (const std::string& key : maker->description.makes) {
      if (below.contains(key)) continue;
      bool consumed = false;
      for (auto other = modules.begin(); other != modules.end() && !consumed; ++other) {
        const bool later = other->stage != maker->stage ? other->stage > maker->stage : other > maker;
        consumed = later && consumes(other->description, key);
      }
      if (!consumed) found.push_back({key, maker->id, maker->use.location});
    }
  }
  return found;
}

std::string UnconsumedAnnotation::str() const {
  const std::string place = location.str();
  return fmt::format("{}{}no module consumes the annotation '{}' of module '{}'", place,
                     place.empty() ? "" : ": ", key, module);
}

}  // namespace tunesmith
