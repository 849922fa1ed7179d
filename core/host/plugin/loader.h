// Loads one plugin's library, after everything that can be known without running it was found acceptable.
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
  const PluginDescriptor* descriptor = nullptr;  // of the exact tier
  const tunesmith_plugin* stable = nullptr;      // of the stable tier; both null: `file` is the plugin
  std::vector<OptionSpec> options;
  FilePlugin file;

  /// One line, as the plugin says.
  std::string help() const;
  /// Of the plugin itself; "" where only the manifest has one.
  std::string version() const;
};

/// Opens the library, checks its owner, hash, note, lock entry (where `lock` is given), loads it, and checks
/// its descriptor and options. A file is read where a library is loaded. Throws PluginError with the rule
/// that does not hold.
LoadedPlugin load_plugin(const PluginInfo& plugin, const PluginLock* lock);

/// Loads the plugin in a worker (tunesmith-worker --probe): "", or why that failed. Finds what cannot be
/// survived in this process: initialisers that throw, crash or do not end within kProbeSeconds.
std::string probe_plugin(const PluginInfo& plugin, const PluginLock* lock);

/// A line of help for each of the plugins, "" for one that is refused or ends its process: loaded in a worker
/// one after the other.
std::vector<std::string> help_lines_of(const std::vector<PluginInfo>& plugins, const PluginLock* lock);

/// Opens the plugin's file as load_plugin does and returns its hash; where that is `plugin.sha256`, the
/// libraries that it needs of its pack were checked, too. Throws PluginError.
std::string hash_plugin(const PluginInfo& plugin);

}  // namespace tunesmith
