#include "space/named_extension.h"

#include <fmt/format.h>

#include "space/required_packs.h"
#include "tunesmith/plugin/guard.h"
#include "tunesmith/space/space.h"
#include "tunesmith/target/extension_file.h"

namespace tunesmith {

std::filesystem::path PluginUse::extension_path() const {
  if (!id.ends_with(".yaml")) return {};
  return std::filesystem::path(location.file).parent_path() / id;
}

std::string AbsentExtension::str() const {
  return fmt::format("{}: unknown extension '{}'{}", location.str(), name,
                     nearest.empty() ? "" : fmt::format("; did you mean '{}'?", nearest));
}

std::optional<AbsentExtension> absent_extension(const PluginUse& use, const PluginRegistry& registry) {
  if (!use.optional || !use.extension_path().empty() || registry.has(PluginKind::Extension, use.id))
    return std::nullopt;
  std::vector<std::string> known;
  for (const PluginInfo& plugin : registry.list(PluginKind::Extension)) known.push_back(plugin.id);
  return AbsentExtension{use.id, use.location, nearest_name(use.id, known)};
}

NamedExtension make_extension(const PluginUse& use, Composer& composer) {
  if (const std::filesystem::path file = use.extension_path(); !file.empty()) {
    if (!use.options.empty())
      throw UserError(use.location, fmt::format("extension '{}' has no options: it is a file", use.id));
    if (const std::string why = composer.registry().probe(PluginKind::Extension, file.string()); !why.empty())
      throw EnvironmentError(why);
    const std::shared_ptr<ExtensionFile> read = ExtensionFile::load(file, use.location);
    return {read->name(), read, {}, nullptr};
  }
  Options options = composer.check(PluginKind::Extension, use);
  auto extension = composer.make<TargetExtension>(use, options);
  return {use.id, std::move(extension), std::move(options),
          &composer.registry().info(PluginKind::Extension, use.id)};
}

std::vector<TensorIntrinsicPtr> intrinsics_of(const NamedExtension& named, LowerOptions options) {
  options.intrinsics.clear();
  guard_plugin(PluginKind::Extension, named.name, "adapt", [&] { named.extension->adapt(options); });
  return std::move(options.intrinsics);
}

std::shared_ptr<const TensorIntrinsics> read_extensions(const SpaceSpec& spec, PluginRegistry& registry) {
  require_packs(spec, registry);
  std::map<std::string, std::string> versions;
  Composer composer(registry, versions);
  auto intrinsics = std::make_shared<TensorIntrinsics>();
  for (const PluginUse& use : spec.extensions) {
    if (absent_extension(use, registry)) continue;
    for (TensorIntrinsicPtr& own : intrinsics_of(make_extension(use, composer), {}))
      intrinsics->add(std::move(own));
  }
  return intrinsics;
}

}  // namespace tunesmith
