// The checked plugin and the space in which it is checked.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tunesmith/space/space.h"
#include "tunesmith/workload/library.h"
#include "verdict.h"

namespace tunesmith::conformance {

class Subject {
 public:
  Subject(PluginRegistry& registry, PluginInfo info, const SpacesFile& spaces, const VerifyOptions& options);

  PluginRegistry& registry() const { return registry_; }
  const PluginInfo& info() const { return info_; }
  std::string name() const { return plugin_name(info_.kind, info_.id); }

  /// The space that names the plugin, else the default space with the plugin added.
  const SpaceSpec& company() const { return company_; }
  /// A space with only this module, with the same target and extensions.
  SpaceSpec alone() const;

  /// Passed, or Unsupported with what the target and extensions miss on this machine.
  Verdict hardware_of_company() const;

  /// Small workloads of all kinds, followed by the requested ones.
  const std::vector<Workload>& workloads() const { return workloads_; }

  /// A new object with default options.
  template <typename Interface>
  std::shared_ptr<Interface> create() const {
    return registry_.create<Interface>(
        info_.id, Options::defaults(registry_.option_specs(info_.kind, info_.id), name()));
  }

 private:
  PluginRegistry& registry_;
  PluginInfo info_;
  SpaceSpec company_;
  std::vector<Workload> workloads_;
};

}  // namespace tunesmith::conformance
