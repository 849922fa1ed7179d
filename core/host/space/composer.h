#pragma once

#include <map>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "tunesmith/plugin/registry.h"
#include "tunesmith/space/spaces_file.h"

namespace tunesmith {

/// Checks options and creates plugins, and records what was used.
class Composer {
 public:
  /// `versions` receives the version of each plugin whose options are checked.
  Composer(PluginRegistry& registry, std::map<std::string, std::string>& versions)
      : registry_(registry), versions_(versions) {}

  Options check(PluginKind kind, const PluginUse& use) {
    Options options = options_of(kind, use);
    versions_[fmt::format("{}:{}", kind_name(kind), use.id)] = registry_.plugin_version(kind, use.id);
    return options;
  }

  /// For a plugin that does not affect times.
  Options options_of(PluginKind kind, const PluginUse& use) {
    const std::vector<OptionSpec>& specs = registry_.option_specs(kind, use.id, use.location);
    return Options::validate(specs, use.options, plugin_name(kind, use.id), use.location);
  }

  template <typename Interface>
  std::shared_ptr<Interface> make(const PluginUse& use, const Options& options) {
    return registry_.create<Interface>(use.id, options, use.location);
  }

  const PluginRegistry& registry() const { return registry_; }

 private:
  PluginRegistry& registry_;
  std::map<std::string, std::string>& versions_;
};

}  // namespace tunesmith
