// Loads plugins' libraries, after all checks that need none of their code.
#pragma once

#include <string>
#include <vector>

#include "plugin/file_plugin.h"
#include "plugin/lock.h"
#include "plugin/stable_interface.h"
#include "tunesmith/plugin/plugin.h"
#include "tunesmith/plugin/registry.h"

namespace tunesmith {

struct LoadedPlugin {
  const PluginDescriptor* descriptor = nullptr;  // for the exact tier
  const tunesmith_plugin* stable = nullptr;      // for the stable tier; both null: `file` is the plugin
  std::vector<OptionSpec> options;
  FilePlugin file;

  /// One line, from the plugin.
  std::string help() const;
  /// From the plugin; "" if only the manifest has a version.
  std::string version() const;
};

/// Opens the library, checks owner, hash, note, and lock entry (if `lock`
/// is given), loads it, and checks its descriptor and options. A YAML
/// plugin is read instead. Throws PluginError with the violated rule.
LoadedPlugin load_plugin(const PluginInfo& plugin, const PluginLock* lock);

/// Loads the plugin in a worker (tunesmith-worker --probe): "", or why that failed.
/// Detects initialisers that throw, crash or run longer than kProbeSeconds.
std::string probe_plugin(const PluginInfo& plugin, const PluginLock* lock);

/// The help line of each plugin, "" if it is refused or ends its process. Loads the plugins in a worker, one
/// after another.
std::vector<std::string> help_lines_of(const std::vector<PluginInfo>& plugins, const PluginLock* lock);

/// Opens the plugin's file as load_plugin does and returns its hash; if it equals `plugin.sha256`,
/// the libraries that it needs from its pack were checked, too. Throws PluginError.
std::string hash_plugin(const PluginInfo& plugin);

}  // namespace tunesmith
